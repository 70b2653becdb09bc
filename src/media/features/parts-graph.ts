import { soundFilters } from "../features.ts";
import type { Toolset } from "../ffmpeg/toolset.ts";
import { createTrim, formatSeconds, isMisnumbered } from "../ffmpeg/trim.ts";
import type { Chunk, Plan, PlannedPart } from "../plan.ts";
import type { Source } from "../source.ts";
import { sourceForTrack } from "./track.ts";

/** A part and its place among all. */
interface NumberedPart extends PlannedPart {
  index: number;
}

/** The parts whose sound one input of ffmpeg reads, in the order of the source. */
export interface SoundRun {
  /** Index of the input. */
  input: number;
  /** Seconds of the source. */
  start: number;
  end: number;
  /** Start of the first of them in the output, in seconds. */
  at: number;
  parts: readonly NumberedPart[];
}

// Decoding a short gap takes less time than opening the file again.
const MAX_GAP_SECONDS = 30;
// A hundred inputs exceed the memory of the light encoder. If parts jump back more often, the sound of later ones waits in memory.
const MAX_INPUTS = 8;

/** Groups the parts of a plan by the inputs that read their sound; empty for a plan without parts. */
export function soundRuns({ parts = [] }: Pick<Plan, "parts">): SoundRun[] {
  const groups: NumberedPart[][] = [];
  for (const [index, part] of parts.entries()) {
    const gapAfter = (group: NumberedPart[]) => part.start - Math.max(...group.map(({ end }) => end));
    const behind = groups.filter((group) => gapAfter(group) >= 0);
    const nearest = behind.toSorted((a, b) => gapAfter(a) - gapAfter(b))[0];
    const isFull = groups.length >= MAX_INPUTS;
    const joins = nearest && (isFull || gapAfter(nearest) <= MAX_GAP_SECONDS) ? nearest : null;
    const group = joins ?? (isFull ? groups.at(-1) : undefined);
    if (group) group.push({ ...part, index });
    else groups.push([{ ...part, index }]);
  }
  return groups.map((group, input) => ({
    input,
    start: Math.min(...group.map(({ start }) => start)),
    end: Math.max(...group.map(({ end }) => end)),
    at: group[0]?.at ?? 0,
    parts: group.toSorted((a, b) => a.start - b.start),
  }));
}

/** Returns the maximum seconds of decoded sound that wait in memory because the source has them before earlier parts of the output. */
export function waitingSeconds(plan: Pick<Plan, "parts">): number {
  return soundRuns(plan).reduce((total, { parts }) => {
    const order = parts.map(({ index }) => index).sort((a, b) => a - b);
    const decoded = new Map<number, number>();
    let [next, waiting, most] = [0, 0, 0];
    for (const { index, start, end } of parts) {
      decoded.set(index, end - start);
      waiting += end - start;
      if (index !== order[next]) most = Math.max(most, waiting);
      for (let seconds = decoded.get(order[next] ?? -1); seconds !== undefined; ) {
        waiting -= seconds;
        seconds = decoded.get(order[++next] ?? -1);
      }
    }
    return total + most;
  }, 0);
}

// ffmpeg decodes sound to at most 32 bits a sample before mixing.
const SAMPLE_BYTES = 4;

/** Returns the bytes of a chunk's sound that wait in memory for earlier parts of the output. */
export function waitingBytes(plan: Plan, source: Source, { track }: Pick<Chunk, "track">): number {
  if (!plan.parts || !plan.audio || track === "video") return 0;
  const { audio } = sourceForTrack(source, plan);
  return audio ? waitingSeconds(plan) * audio.sample_rate * audio.channels * SAMPLE_BYTES : 0;
}

/** A run of parts as ffmpeg reads it. */
export interface RunInput extends SoundRun {
  /** Arguments before the input. */
  seek: readonly string[];
  /** ffmpeg's timestamp of the start of the source, in seconds. */
  origin: number;
}

// Decoders need a packet or two before their output is complete.
const PREROLL_SECONDS = 0.1;

/**
 * Returns the inputs of a chunk's sound. ffmpeg reads the input that lags most, so each one is shifted to its place in the output:
 * otherwise all would be read at once, and their sound would fill memory.
 */
export function runInputs(plan: Plan, chunk: Chunk, source: Source): RunInput[] {
  return soundRuns(plan).map((run) => {
    const { end, input, at } = run;
    const start = Math.max(0, run.start - PREROLL_SECONDS);
    const { seek, lead } = createTrim(plan, { ...chunk, start, end }, source);
    const from = start - lead;
    if (input === 0) return { ...run, seek, origin: -from };
    // Whole seconds are exact in the time base of every container.
    const shift = Math.ceil(at);
    const priming = from === 0 ? (source.priming ?? 0) : 0;
    return {
      ...run,
      seek: [...seek, "-itsoffset", formatSeconds(shift - priming)],
      origin: shift - from,
    };
  });
}

/** Returns the arguments of the inputs of a chunk's sound after the first one; they read the same file. */
export function laterInputs(runs: readonly RunInput[], file: string, { input }: Toolset): string[] {
  return runs.slice(1).flatMap(({ seek }) => [...seek, ...input, "-i", file]);
}

/** Seconds of the fades at a join, where a jump in the sound would click. */
const FADE_SECONDS = 0.005;

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
      "aresample=async=1:first_pts=0",
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
    const number = isMisnumbered(source) ? [`asetpts=N/SR/TB+round(${formatSeconds(origin)}/TB)`] : [];
    const groups = groupsOf(own);
    const pads = groups.map((_, at) => `[run${input}-${at}]`).join("");
    const splits = groups.flatMap((group, at) => {
      const range = { start: group[0]?.start ?? 0, end: Math.max(...group.map(({ end }) => end)) };
      const labels = group.map(({ index }) => `[in${index}]`).join("");
      const split = `[run${input}-${at}]${trimTo(range, origin)},asplit=${group.length}${labels}`;
      return [split, ...group.map((part) => chainOf(part, origin))];
    });
    return [
      `[${input}:a:${sound_track}]${[...number, `asplit=${groups.length}`].join(",")}${pads}`,
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
  const length = Math.min(Math.round(FADE_SECONDS * sample_rate), Math.floor(samples / 2));
  if (length === 0) return [];
  return [
    ...(isFirst ? [] : [`afade=t=in:ns=${length}`]),
    ...(isLast ? [] : [`afade=t=out:ss=${samples - length}:ns=${length}`]),
  ];
}
