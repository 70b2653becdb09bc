import { FILL_GAPS } from "../clock.ts";
import { soundFilters } from "../features.ts";
import { type Entry, enterRange, formatSeconds, renumberSamples } from "../ffmpeg/trim.ts";
import { storedPicture } from "../picture-geometry.ts";
import { type Chunk, constantFps, type Plan, type PlannedPart } from "../plan.ts";
import type { Source } from "../source.ts";
import { DEFAULT_FPS } from "./fps.ts";
import { type NumberedPart, type PartRun, partRuns, waitingSeconds } from "./parts-plan.ts";
import { sourceForTrack } from "./track.ts";

// ffmpeg decodes sound to at most 32 bits a sample before mixing.
const SAMPLE_BYTES = 4;
const PIXEL_BYTES = 4;

/** Returns the bytes of a chunk's pictures and sound that wait in memory for earlier parts of the output. */
export function waitingBytes(plan: Plan, source: Source, { track }: Pick<Chunk, "track">): number {
  if (!plan.parts || track === "video") return 0;
  const { audio } = sourceForTrack(source, plan);
  const sound = plan.audio && audio ? audio.sample_rate * audio.channels * SAMPLE_BYTES : 0;
  const { width = 0, height = 0 } = (plan.image && storedPicture(source)) ?? {};
  const rate = constantFps(plan) ?? source.fps ?? DEFAULT_FPS;
  return waitingSeconds(plan) * (sound + width * height * PIXEL_BYTES * rate);
}

/** A run of parts as ffmpeg reads it. */
export interface RunInput extends PartRun, Entry {}

/** Returns the inputs of a chunk that has parts. */
export function runInputs(plan: Plan, chunk: Chunk, source: Source): RunInput[] {
  const { decode_from: entry, shown_from: _, ...own } = chunk;
  const earlier = entry === undefined ? 0 : chunk.start - entry;
  return partRuns(plan).map((run) => {
    const { input, start, end, at } = run;
    return { ...run, ...enterRange(plan, { ...own, input, start, end, at }, source, earlier) };
  });
}

/** Returns the arguments of the inputs of a chunk's parts after the first one; they read the same file with the same decoder. */
export function laterInputs(runs: readonly RunInput[], file: string, decoder: readonly string[]): string[] {
  return runs.slice(1).flatMap(({ seek }) => [...seek, ...decoder, "-i", file]);
}

/** Seconds of the fades at a join, where a jump in the sound would click. */
export const JOIN_FADE_SECONDS = 0.005;

/** Returns the filter graph of a chunk's sound, up to `[sound]`: its parts one after the other, then `filters`. */
export function partSounds(
  plan: Plan,
  runs: readonly RunInput[],
  source: Source,
  { sample_rate }: { sample_rate: number },
  filters: readonly string[],
): string {
  const { speed = 1, sound_track = 0, parts = [] } = plan;
  // Rounding the ends of the parts, not their lengths, keeps the sound with its pictures however many there are.
  const samplesAt = (seconds: number) => Math.round(seconds * speed * sample_rate);
  const total = (plan.duration ?? 0) * speed * sample_rate;
  const chainOf = ({ start, end, at, index }: NumberedPart, origin: number) => {
    const from = formatSeconds(start + origin);
    const next = parts[index + 1];
    const samples = (next ? samplesAt(next.at) : Math.round(total)) - samplesAt(at);
    const chain = [
      trimTo({ start, end }, origin),
      `asetpts=PTS-round(${from}/TB)`,
      `${FILL_GAPS}:first_pts=0`,
      `aformat=sample_rates=${sample_rate}`,
      "apad",
      // Silence in place of a whole part has no times, and the joining filter fails.
      "asetpts=N/SR/TB",
      `atrim=end_sample=${samples}`,
      ...fades(samples, sample_rate, { isFirst: index === 0, isLast: !next }),
    ];
    return `[in${index}]${chain.join(",")}[part${index}]`;
  };
  const graph = runs.flatMap(({ input, origin, parts: own }) => {
    const groups = groupsOf(own);
    const pads = groups.map((_, at) => `[run${input}-${at}]`).join("");
    const splits = groups.flatMap((group, at) => {
      const range = { start: group[0]?.start ?? 0, end: Math.max(...group.map(({ end }) => end)) };
      const labels = group.map(({ index }) => `[in${index}]`).join("");
      const split = `[run${input}-${at}]${trimTo(range, origin)},asplit=${group.length}${labels}`;
      return [split, ...group.map((part) => chainOf(part, origin))];
    });
    return [
      `[${input}:a:${sound_track}]${[...renumberSamples(source, origin), `asplit=${groups.length}`].join(",")}${pads}`,
      ...splits,
    ];
  });
  const joined = parts.map((_, at) => `[part${at}]`).join("");
  const after = [
    `concat=n=${parts.length}:v=0:a=1`,
    "asetpts=N/SR/TB",
    ...soundFilters({ speed }),
    ...filters,
  ];
  return [...graph, `${joined}${after.join(",")}[sound]`].join(";");
}

function trimTo({ start, end }: Pick<PlannedPart, "start" | "end">, origin: number): string {
  return `atrim=start=${formatSeconds(start + origin)}:end=${formatSeconds(end + origin)}`;
}

// A single split would give each part the sound of all the others to drop.
function groupsOf(all: readonly NumberedPart[]): NumberedPart[][] {
  const size = Math.ceil(Math.sqrt(all.length));
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
}

function fades(
  samples: number,
  sample_rate: number,
  { isFirst, isLast }: { isFirst: boolean; isLast: boolean },
): string[] {
  const length = Math.min(Math.round(JOIN_FADE_SECONDS * sample_rate), Math.floor(samples / 2));
  if (length === 0) return [];
  return [
    ...(isFirst ? [] : [`afade=t=in:ns=${length}`]),
    ...(isLast ? [] : [`afade=t=out:ss=${samples - length}:ns=${length}`]),
  ];
}
