import type { Source } from "../../src/index.ts";
import { FORMATS, type ImageFormat, LOSSLESS_FORMAT } from "../../src/media/formats.ts";
import { withVerdict } from "../options/check-settings.ts";
import { fromPreset, PRESETS, type Preset } from "../options/presets.ts";
import type { Settings } from "../queue/item.ts";
import type { Choice, Job } from "./jobs.ts";

// This module loads with the first file of a job: the presets bring the planner along.

/** Returns the options that a job chooses for a file; the current ones if it has none for such a file. */
export function applyJob(job: Job, current: Settings, source: Source): Settings {
  const choice = job.sets[source.animated ? "animated" : source.kind];
  return choice ? withVerdict(fromPreset(presetOf(job, choice, source), current, source), source) : current;
}

function presetOf(job: Job, choice: Choice, source: Source): Preset {
  if (typeof choice === "string") {
    const preset = PRESETS.find(({ id }) => id === choice);
    if (!preset) throw new Error(`There is no preset ${choice}.`);
    return preset;
  }
  const { formats, seconds, options, ...rest } = choice;
  const isCut = seconds !== undefined && (source.duration ?? 0) > seconds;
  const own = { ...options, ...formats?.[source.format], ...(isCut && { end: seconds }) };
  const isFlat = source.has_alpha === true && FORMATS.image[own.format as ImageFormat]?.alpha === false;
  return {
    ...rest,
    id: job.path,
    name: job.name,
    purpose: job.note,
    options: isFlat ? { ...own, format: LOSSLESS_FORMAT.image, quality: undefined } : own,
  };
}
