import { CLOCK, EPSILON_SECONDS, FILL_GAPS } from "../clock.ts";
import type { Filter } from "../feature.ts";
import { audioCodecArgs } from "../ffmpeg/audio-args.ts";
import * as errors from "../ffmpeg/errors.ts";
import { listDecodedSound, listInput, listPictures, listPrefix } from "../ffmpeg/packet-count.ts";
import {
  chain,
  fpsText,
  videoArgs,
  videoCleanup,
  videoMatrix,
  videoScaling,
} from "../ffmpeg/picture-graph.ts";
import type { Toolset } from "../ffmpeg/toolset.ts";
import {
  createTrim,
  type Entry,
  formatSeconds,
  inputArgs,
  rangeEntry,
  renumberSamples,
  untrimmedFilters,
} from "../ffmpeg/trim.ts";
import { videoStream } from "../main-tracks.ts";
import type { Chunk, ConcatPart, Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { audioFilterChain } from "./audio-filters-graph.ts";
import { type PlacedPart, placedParts } from "./concat-plan.ts";
import { JOIN_FADE_SECONDS } from "./parts-graph.ts";

const WHOLE: Chunk = { index: 0, track: "all", start: 0, end: null };

/**
 * Returns the input arguments of a part, which shift the times of a later one to its place in the output. ffmpeg reads the input that lags
 * most; without the shift it would decode all parts at once and buffer their pictures.
 */
export function partInput(plan: Plan, part: PlacedPart): readonly string[] {
  const { at, source, input } = part;
  const entry = rangeEntry(plan, part);
  if (entry) return entry.seek;
  return input === 0
    ? createTrim(plan, WHOLE, source).seek
    : [...inputArgs(plan, WHOLE, source), "-itsoffset", formatSeconds(at - (source.priming ?? 0))];
}

/** How the pictures of joined parts are drawn and listed. */
interface JoinedPictures {
  lists?: string | undefined;
  over: readonly Filter[];
}

/**
 * Returns the arguments that join the parts of a plan: filter graphs, streams, codecs and packet lists; only those of the audio when
 * the pictures are copied. The filters of `over` come last.
 */
export function concatArgs(plan: Plan, source: Source, drawing: JoinedPictures, toolset: Toolset) {
  const { audio } = plan;
  const { lists } = drawing;
  const parts = placedParts(plan);
  const [first] = parts;
  if (audio?.mode === "copy" || !first) throw errors.joinedSoundCopied();
  const { video } = first;
  return {
    tracks: [
      // A graph starts once all its inputs have data: in a single graph, decoded pictures would queue until late audio begins.
      ...(video ? ["-filter_complex", pictureGraph(plan, parts, first, drawing, toolset)] : []),
      ...(audio ? ["-filter_complex", soundGraph(plan, audio, parts, source)] : []),
      ...(video ? ["-map", "[video]", ...videoArgs(plan, first.source, video, toolset, null)] : []),
      ...(audio ? ["-map", "[sound]", ...audioCodecArgs(audio, source, toolset)] : []),
    ],
    lists: lists === undefined ? [] : parts.flatMap((part) => listPart(plan, part, lists)),
  };
}

/** Returns the filter graph that joins the pictures of all parts into `[video]`. */
function pictureGraph(
  plan: Plan,
  parts: readonly PlacedPart[],
  first: PlacedPart,
  { lists, over }: JoinedPictures,
  toolset: Toolset,
): string {
  const { transition } = plan;
  const pictures = parts.flatMap((part) => {
    const filters = part.video && pictureFilters(plan, { ...part, video: part.video }, first, lists, toolset);
    return filters ? [`[${videoStream(part.source, part.input)}]${filters}[v${part.input}]`] : [];
  });
  // A part of a single picture may have no duration, so times follow from the count.
  const timed = [`settb=1/(${fpsText(first.video?.fps ?? 1)})`, "setpts=N", ...over];
  const mixes = transition ? mixPictures(parts, transition.frames) : [];
  const segments = transition ? mixedPads(parts) : padsOf("v", parts);
  const count = transition ? 2 * parts.length - 1 : parts.length;
  return [...pictures, ...mixes, `${segments}concat=n=${count}:v=1:a=0,${chain(timed)}[video]`].join(";");
}

type EncodedAudio = Extract<NonNullable<Plan["audio"]>, { mode: "encode" }>;

/** Returns the filter graph that joins the sound of all parts into `[sound]`. */
function soundGraph(plan: Plan, audio: EncodedAudio, parts: readonly PlacedPart[], source: Source): string {
  const { transition } = plan;
  const sounds = parts.map((part) => `${partSound(plan, audio, part, parts)}[a${part.input}]`);
  const shape = ["asetpts=N/SR/TB", ...audioFilterChain(audio, source, null)].join(",");
  if (!transition)
    return [...sounds, `${padsOf("a", parts)}concat=n=${parts.length}:v=0:a=1,${shape}[sound]`].join(";");
  const overlap = Math.round((transition.frames / (parts[0]?.video?.fps ?? 1)) * audio.sample_rate);
  return [...sounds, ...mixSounds(parts, overlap), `[mixed]${shape}[sound]`].join(";");
}

/** Returns the filters of a part's sound, from its input to exactly the part's length; silence for a part without sound. */
function partSound(plan: Plan, audio: EncodedAudio, part: PlacedPart, parts: readonly PlacedPart[]): string {
  const format = `aformat=sample_fmts=fltp:sample_rates=${audio.sample_rate}:channel_layouts=${audio.channels}c`;
  const end = `atrim=end=${formatSeconds(part.seconds)}`;
  if (part.sound === null) return `anullsrc=r=${audio.sample_rate}:cl=${audio.channels}c,${end},${format}`;
  const entry = rangeEntry(plan, part);
  const range = entry && rangeSound(part, entry);
  const filters = [
    ...(range ?? shiftFilters("asetpts", part)),
    FILL_FROM_START,
    format,
    "apad",
    // If silence fills a whole range, it has no times and the joining filter would fail.
    ...(range ? ["asetpts=N/SR/TB"] : []),
    end,
    ...(range && !plan.transition ? edgeFades(part, parts) : []),
  ];
  return `[${part.input}:a:${part.sound}]${filters.join(",")}`;
}

function padsOf(kind: string, parts: readonly PlacedPart[]): string {
  return parts.map(({ input }) => `[${kind}${input}]`).join("");
}

// Mixes only the pictures of a transition: the filter xfade would convert all pictures to 4:4:4.
function mixPictures(parts: readonly PlacedPart[], overlap: number): string[] {
  const last = parts.length - 1;
  return parts.flatMap(({ input, frames, video }, index) => {
    const [from, to] = [index === 0 ? 0 : overlap, index === last ? frames : frames - overlap];
    const cuts = [
      ...(index > 0 ? [{ name: `head${index}`, start: 0, end: from }] : []),
      { name: `body${index}`, start: from, end: to },
      ...(index < last ? [{ name: `tail${index}`, start: to, end: frames }] : []),
    ];
    const pads = cuts.map(({ name }) => `[cut-${name}]`).join("");
    const trims = cuts.map(
      ({ name, start, end }) =>
        `[cut-${name}]trim=start_frame=${start}:end_frame=${end},setpts=PTS-STARTPTS[${name}]`,
    );
    const pixels = video?.depth === 10 ? "yuv420p10" : "yuv420";
    const withAlpha = video?.depth === 10 ? "yuva420p10le" : "yuva420p";
    const mix = [
      `[head${index}]format=${withAlpha},fade=t=in:s=0:n=${overlap}:alpha=1[over${index}]`,
      `[tail${index - 1}][over${index}]overlay=format=${pixels}[mix${index}]`,
    ];
    return [`[v${input}]split=${cuts.length}${pads}`, ...trims, ...(index > 0 ? mix : [])];
  });
}

function mixedPads(parts: readonly PlacedPart[]): string {
  return parts.map((_, index) => (index === 0 ? "[body0]" : `[mix${index}][body${index}]`)).join("");
}

// With linear curves, the sum of two sounds cannot clip.
function mixSounds(parts: readonly PlacedPart[], overlap: number): string[] {
  return parts.slice(1).map(({ input }, index) => {
    const before = index === 0 ? `[a${parts[0]?.input}]` : `[mixed${index}]`;
    const after = index === parts.length - 2 ? "[mixed]" : `[mixed${index + 1}]`;
    return `${before}[a${input}]acrossfade=ns=${overlap}:c1=tri:c2=tri${after}`;
  });
}

// Mixes channels as for sound that is not joined; `rematrix_maxval` prevents clipping.
const FILL_FROM_START = `${FILL_GAPS}:first_pts=0:rematrix_maxval=1`;

type PicturedPart = PlacedPart & { video: NonNullable<ConcatPart["video"]> };

function pictureFilters(
  plan: Plan,
  part: PicturedPart,
  first: ConcatPart,
  lists: string | undefined,
  toolset: Toolset,
): string {
  const { source, video } = part;
  const cut = createTrim(plan, WHOLE, source);
  const listFilters = lists === undefined ? [] : [listPictures(lists + listPrefix(part))];
  const entry = rangeEntry(plan, part);
  const filters = entry
    ? [...untrimmedFilters(plan, WHOLE, source, part.input), ...listFilters, ...rangePictures(part, entry)]
    : [...cut.video, ...listFilters, ...unshiftFilters(part)];
  const own = { ...cut, length: part.seconds, video: filters };
  return [
    ...videoCleanup(source, video, own, toolset),
    ...videoScaling(source, video, video.geometry, toolset),
    ...matrixFilters(part, first, toolset),
  ].join(",");
}

// ffmpeg rounds an input's offset to each stream's time base, whose ticks may be as long as a picture.
function unshiftFilters({ at, source: { priming = 0 } }: PlacedPart): string[] {
  if (at === 0) return [];
  const ticks = (value: number) => `round(${formatSeconds(value)}/TB)`;
  return [`setpts=PTS-${ticks(at - priming)}+${ticks(-priming)}`];
}

function shiftFilters(filter: string, { at }: PlacedPart): string[] {
  return at === 0 ? [] : [`${filter}=PTS-${formatSeconds(at)}/TB`];
}

// The fps filter needs the picture that is visible at the start, which may begin earlier.
function rangePictures({ start = 0, end }: PlacedPart, { origin }: Entry): string[] {
  return [
    ...(end === undefined ? [] : [`trim=end=${formatSeconds(end + origin - EPSILON_SECONDS)}`]),
    `setpts=PTS-${Math.round((start + origin) * CLOCK)}`,
  ];
}

function rangeSound({ source, start = 0, end }: PlacedPart, { origin }: Entry): string[] {
  const from = formatSeconds(start + origin);
  return [
    ...renumberSamples(source, origin),
    `atrim=start=${from}${end === undefined ? "" : `:end=${formatSeconds(end + origin)}`}`,
    `asetpts=PTS-round(${from}/TB)`,
  ];
}

// A jump in the sound would click.
function edgeFades(part: PlacedPart, parts: readonly PlacedPart[]): string[] {
  const { start = 0, end, seconds } = part;
  const length = Math.min(JOIN_FADE_SECONDS, seconds / 2);
  return [
    ...(start > 0 && part !== parts[0] ? [`afade=t=in:d=${formatSeconds(length)}`] : []),
    ...(end !== undefined && part !== parts.at(-1)
      ? [`afade=t=out:st=${formatSeconds(seconds - length)}:d=${formatSeconds(length)}`]
      : []),
  ];
}

function matrixFilters(part: PicturedPart, first: ConcatPart, { scaler }: Toolset): string[] {
  const from = videoMatrix(part.source, part.video);
  const to = videoMatrix(first.source, first.video ?? part.video);
  return from === to ? [] : [`scale=flags=${scaler}:in_color_matrix=${from}:out_color_matrix=${to}`];
}

function listPart(plan: Plan, part: PlacedPart, folder: string): string[] {
  const own = folder + listPrefix(part);
  const streams = {
    pictures: part.video && videoStream(part.source, part.input),
    sound: part.sound === null ? null : `${part.input}:a:${part.sound}`,
  };
  const entry = rangeEntry(plan, part);
  const until = entry && part.end !== undefined ? part.end + entry.origin : null;
  return [...listInput(part.source, own, streams, until), ...listDecodedSound(part, own, until)];
}
