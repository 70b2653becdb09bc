import { CLOCK, EPSILON_SECONDS } from "../clock.ts";
import { listPictures, listPrefix } from "../ffmpeg/packet-count.ts";
import { fpsFilters, fpsText } from "../ffmpeg/picture-graph.ts";
import { formatSeconds, untrimmedFilters } from "../ffmpeg/trim.ts";
import { videoStream } from "../main-tracks.ts";
import type { Chunk, Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import type { RunInput } from "./parts-graph.ts";
import type { NumberedPart } from "./parts-plan.ts";

/** Settings for joining the pictures of parts into one sequence. */
export interface PartPictures {
  /** Filters that run before the cuts, because they need neighboring pictures. */
  clean: readonly string[];
  /** Frames per second; null keeps the source's timing. */
  fps: number | null;
  /** Path prefix of the lists of pictures; absent to list nothing. */
  lists?: string | undefined;
}

/**
 * Returns the filter graph of a chunk's pictures, up to `[parts]`: its parts one after the other. Each begins with the picture that is
 * visible at its start.
 */
export function partPictures(
  plan: Plan,
  chunk: Chunk,
  runs: readonly RunInput[],
  source: Source,
  { clean, fps, lists }: PartPictures,
): string {
  const heads = runs.map(({ input }) => {
    const listFilters = lists === undefined ? [] : [listPictures(lists + listPrefix({ input }))];
    const filters = [...untrimmedFilters(plan, chunk, source, input), ...listFilters, ...clean];
    return `[${videoStream(source, input)}]${filters.join(",")}`;
  });
  const [graphs, join] = fps === null ? timedPictures(runs, heads) : evenPictures(plan, runs, heads, { fps });
  return [...graphs, `${join}[parts]`].join(";");
}

// Each series of parts that are consecutive in the source is one branch.
function evenPictures(
  { parts = [], duration, speed = 1 }: Plan,
  runs: readonly RunInput[],
  heads: readonly string[],
  { fps }: { fps: number },
): [graphs: string[], join: string] {
  const endOf = ({ index }: NumberedPart) => parts[index + 1]?.at ?? duration ?? 0;
  const ticks = (seconds: number) => Math.round(seconds * CLOCK);
  const branches = runs.flatMap((run) =>
    seriesOf(run, (HALF_PICTURE * speed) / fps).map((own) => ({ run, own })),
  );
  const inOrder = branches.toSorted((a, b) => (a.own[0]?.index ?? 0) - (b.own[0]?.index ?? 0));
  const graphs = runs.map((run, at) => {
    const pads = inOrder.flatMap((each, place) => (each.run === run ? [`[in${place}]`] : []));
    return `${heads[at]},split=${pads.length}${pads.join("")}`;
  });
  const timed = inOrder.map(({ run, own }, place) => {
    const [first] = own;
    const last = own.at(-1);
    const from = first?.at ?? 0;
    const length = (last ? endOf(last) : from) - from;
    const steps = own.map((part) => {
      const elapsed = `PTS-${ticks(part.start + run.origin)}`;
      const limit = ticks(endOf(part) - from) - ticks(part.at - from);
      return `clip(${speed === 1 ? elapsed : `(${elapsed})/${speed}`},0,${limit})`;
    });
    // Pictures between two parts get the start time of the second part, where the last of them is visible.
    const filters = [`setpts='round(${steps.join("+")})'`, ...fpsFilters(fps, length)];
    return `[in${place}]${filters.join(",")}[stretch${place}]`;
  });
  const pads = inOrder.map((_, place) => `[stretch${place}]`).join("");
  const joined = [`concat=n=${inOrder.length}:v=1:a=0`, `settb=1/(${fpsText(fps)})`, "setpts=N"];
  return [[...graphs, ...timed], `${pads}${joined.join(",")}`];
}

const HALF_PICTURE = 0.5;

// Rounding to whole pictures may extend a part beyond the start of the next by up to `overlap` seconds.
function seriesOf({ parts }: RunInput, overlap: number): NumberedPart[][] {
  const all: NumberedPart[][] = [];
  for (const part of parts.toSorted((a, b) => a.index - b.index)) {
    const series = all.at(-1);
    const last = series?.at(-1);
    const follows = last && part.index === last.index + 1 && part.start >= last.end - overlap;
    if (follows) series?.push(part);
    else all.push([part]);
  }
  return all;
}

// Pictures keep their times: a fine grid selects the one visible at the start of a part, and a trim by time selects the later ones.
function timedPictures(
  runs: readonly RunInput[],
  heads: readonly string[],
): [graphs: string[], join: string] {
  const graphs = runs.flatMap(({ origin, parts }, at) => {
    const pads = parts.map(({ index }) => `[from${index}][rest${index}]`).join("");
    const branches = parts.flatMap(({ index, start, end, at: place }) => {
      const [from, until] = [start + origin, end + origin];
      const shift = Math.round(place * CLOCK) - Math.round(from * CLOCK);
      const visible = [
        `fps=${GRID_FPS}:start_time=${formatSeconds(from)}:eof_action=pass`,
        ...["tpad=stop=-1:stop_mode=clone", "trim=end_frame=1", `settb=1/${CLOCK}`],
        `setpts=${Math.round(place * CLOCK)}`,
      ];
      const rest = `trim=start=${formatSeconds(from + EPSILON_SECONDS)}:end=${formatSeconds(until - EPSILON_SECONDS)}`;
      return [
        `[from${index}]${visible.join(",")}[first${index}]`,
        `[rest${index}]${rest},setpts=PTS+${shift}[later${index}]`,
      ];
    });
    return [`${heads[at]},split=${2 * parts.length}${pads}`, ...branches];
  });
  const all = runs.flatMap(({ parts }) => parts.map(({ index }) => `[first${index}][later${index}]`));
  return [graphs, `${all.join("")}interleave=n=${2 * all.length},settb=1/${CLOCK}`];
}

const GRID_FPS = 1000;
