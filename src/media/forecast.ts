import { containerOf, isVector, pictureFormat } from "./containers.ts";
import { createPlan } from "./create-plan.ts";
import { isLosslessSource, losesDepth, pcmBits } from "./features/audio-format.ts";
import { losesProfile } from "./features/color-profile.ts";
import { DEFAULT_FPS } from "./features/fps.ts";
import { isPictured } from "./features/subtitles.ts";
import { sourceForTrack } from "./features/track.ts";
import { flattens, holdsAlpha } from "./features/transparency.ts";
import { colorLosses } from "./features.ts";
import { BOUNDS, type EncodeKind, type Quality } from "./formats.ts";
import { mainStream } from "./main-tracks.ts";
import type { OptionsOf } from "./options.ts";
import { displayedSize, storedPicture } from "./picture-geometry.ts";
import { type Geometry, type Plan, soundsOf } from "./plan.ts";
import {
  bitsFor,
  CONTAINER_BYTES,
  copiedBytes,
  FOOTAGE_SHARE,
  isAlike,
  packetBits,
  sourceBits,
  streamBits,
  typicalQuality,
} from "./rates.ts";
import { audibleTrack, loudnessChange } from "./sound-plan.ts";
import type { Dropped, Source, SourceStream } from "./source.ts";
import { holdsTag, holdsTagValues, isLoudness, isPrivate, type MetadataMode } from "./tags.ts";

/** The facts of an output that are known before the work starts; `bytes` is an estimate. */
export interface Forecast {
  /** Output format, a key of FORMATS. */
  format: string;
  /** Width in pixels, of the best rendition for adaptive video; null for sound alone. */
  width: number | null;
  /** Height in pixels, of the best rendition for adaptive video; null for sound alone. */
  height: number | null;
  /** Duration in seconds; null for a still, and when unknown. */
  duration: number | null;
  /** Whether pictures are upscaled, which adds no detail; always false for an SVG. */
  enlarged: boolean;
  /** Whether pictures and sound are copied losslessly. */
  copied: boolean;
  /** Short sides of the renditions of adaptive video in pixels, best first. */
  renditions: number[];
  /** The number of pictures of a storyboard or a series of stills; null for any other output. */
  pictures: number | null;
  /**
   * Estimated size of the file in bytes, from its bitrates and the overhead of its container, and never above `target_size`; null when
   * the size depends on the pictures. The actual file may be smaller or larger.
   */
  bytes: number | null;
  /**
   * The quality level to which the video bitrate corresponds for typical pictures, `poor` below the lowest; null when none is set.
   */
  quality: Quality | "poor" | null;
}

/**
 * Predicts the output of a source with the options of a kind.
 *
 * @throws the errors of `createPlan`: the source lacks what the kind needs, or the options do not suit it.
 */
export function forecast<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): Forecast {
  const plan = createPlan(source, kind, options);
  const geometry = geometryOf(plan);
  const picture = geometry ?? plan.waveform?.picture ?? null;
  const size = picture ?? (plan.video?.mode === "copy" ? shownSize(source) : null);
  const tracks = [plan.video, plan.audio].filter((track) => track !== null);
  const bytes = leastOf(bytesOf(plan, source), copiedBytes(plan, source)?.max ?? null);
  const limit = "target_size" in options ? options.target_size : undefined;
  return {
    format: plan.format,
    width: size?.width ?? null,
    height: size?.height ?? null,
    duration: plan.duration,
    enlarged: geometry !== null && !isVector(source) && isEnlarged(geometry, source),
    copied: tracks.length > 0 && tracks.every(({ mode }) => mode === "copy"),
    renditions: [
      ...new Set(plan.renditions.map(({ geometry: { width, height } }) => Math.min(width, height))),
    ],
    pictures: plan.image?.sheet?.tiles ?? null,
    bytes: bytes === null || limit === undefined ? bytes : Math.min(bytes, limit),
    quality: typicalQuality(plan.video, source),
  };
}

function geometryOf({ image, video, renditions }: Plan): Geometry | null {
  if (image) return image.geometry;
  if (renditions[0]) return renditions[0].geometry;
  return video?.mode === "encode" ? video.geometry : null;
}

function shownSize(source: Source) {
  const stored = storedPicture(source);
  return stored && displayedSize(stored);
}

function isEnlarged({ crop, scale, rotate, width, height }: Geometry, source: Source): boolean {
  const stored = storedPicture(source);
  if (!stored || !scale) return false;
  const displaySize = displayedSize({ ...stored, rotate });
  const turned = rotate % 180 === 0 ? stored : { width: stored.height, height: stored.width };
  const part = crop
    ? {
        width: (crop.width * displaySize.width) / turned.width,
        height: (crop.height * displaySize.height) / turned.height,
      }
    : displaySize;
  const output = { width: Math.min(scale.width, width), height: Math.min(scale.height, height) };
  return output.width > part.width + 1 || output.height > part.height + 1;
}

function leastOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

const DEFAULT_SAMPLE_RATE = 48_000;

function bytesOf({ kind, format, duration, frames, video, audio }: Plan, source: Source): number | null {
  if (duration === null || (kind !== "video" && kind !== "audio")) return null;
  const pictures = video ? trackBits(video, source, "video") : 0;
  const sound = audio ? trackBits(audio, source, "audio") : 0;
  if (pictures === null || sound === null) return null;
  const sample_rate = audio?.mode === "encode" ? audio.sample_rate : source.audio?.sample_rate;
  const packets = audio ? (duration * packetBits(sample_rate ?? DEFAULT_SAMPLE_RATE)) / 8 : 0;
  const overhead =
    containerOf({ format }).header_bytes ??
    CONTAINER_BYTES[kind] + (frames ?? 0) * CONTAINER_BYTES.picture + packets;
  return Math.round(((pictures + sound) * duration) / 8 + overhead);
}

function trackBits(
  track: NonNullable<Plan["video"] | Plan["audio"]>,
  source: Source,
  kind: "video" | "audio",
): number | null {
  if (track.mode === "copy") return streamBits(source, kind);
  if ("rate" in track) return "bitrate" in track.rate ? track.rate.bitrate : null;
  const bits = pcmBits(track.codec);
  if (bits !== null) return bits * track.channels * track.sample_rate;
  return track.bitrate;
}

/**
 * Lists the parts of a source that the output of these options would lack.
 *
 * @throws the errors of {@link createPlan}.
 */
export function dropped<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): Dropped[] {
  const metadata = "metadata" in options ? options.metadata : undefined;
  return listDropped(createPlan(source, kind, options), source, metadata);
}

/** Lists the parts of a source that a plan omits. */
export function listDropped(plan: Plan, source: Source, metadata: MetadataMode = "clean"): Dropped[] {
  const others = plan.concat?.slice(1) ?? [];
  return [
    ...listOwn(plan, source, metadata),
    ...others.flatMap((part) =>
      listOwn(planOfPart(plan, part.source), part.source, metadata).map((entry) => ({
        ...entry,
        part: part.input,
      })),
    ),
  ];
}

function planOfPart({ tags, cover, subtitles, sound_track, ...plan }: Plan, part: Source): Plan {
  const shared = Object.entries(tags ?? {}).filter(([name, value]) => part.tags?.[name] === value);
  const track = audibleTrack(part) ?? 0;
  return { ...plan, tags: Object.fromEntries(shared), ...(track > 0 && { sound_track: track }) };
}

function listOwn(plan: Plan, source: Source, metadata: MetadataMode): Dropped[] {
  const { streams = [] } = source;
  return [
    ...streams.flatMap((stream): Dropped[] => {
      const reason = reasonOf(stream, plan, source, metadata);
      const { kind, index, language } = stream;
      return reason === null ? [] : [{ kind, index, ...(language && { language }), reason }];
    }),
    ...missingEnds(plan, source),
    ...mixedChannels(plan, source),
    ...lostPictures(plan, source),
    ...lostDepth(plan, source),
    ...lostColors(plan, source),
    ...lostAlpha(plan, source),
    ...lostProfile(plan, source),
    ...lostChapters(plan, source, metadata),
    ...lostPictureMetadata(source, metadata),
    ...lostTrackTags(plan, source, metadata),
    ...lostTags(plan, source, metadata),
  ];
}

function reasonOf(
  stream: SourceStream,
  plan: Plan,
  source: Source,
  metadata: MetadataMode,
): Dropped["reason"] | null {
  const { streams = [], video_track = 0 } = source;
  const { kind, index, codec } = stream;
  switch (kind) {
    case "video":
    case "audio": {
      const hasKind = kind === "video" ? plan.video !== null || plan.image !== null : plan.audio !== null;
      const tracks = kind === "audio" ? soundsOf(plan).map(({ track }) => track) : [video_track];
      const isUsed =
        hasKind && tracks.includes(streams.filter((other) => other.kind === kind).indexOf(stream));
      // The audio of joined videos may come from another part only.
      const isSilent = kind === "audio" && codec === null && joins(plan);
      if ((isUsed && !isSilent) || (plan.video && isLost(stream, source))) return null;
      if (kind === "audio" && codec === null) return unsupported(plan);
      return hasKind || (stream.other_program && plan.video) ? "one_track" : "asked";
    }
    case "cover":
      if (plan.cover === index) return null;
      if (isAlone(plan) || metadata === "strip") return "asked";
      if (!containerOf({ format: plan.format }).covers) return "no_place_in_format";
      return plan.cover === undefined ? "not_supported" : "one_track";
    case "subtitle":
      if (plan.subtitles?.some((track) => track.stream === index)) return null;
      return plan.video && isPictured(stream) ? "no_place_in_format" : unsupported(plan);
    default:
      return unsupported(plan);
  }
}

function usedStreams(plan: Plan, source: Source): SourceStream[] {
  const { streams = [] } = source;
  const sounds = streams.filter(({ kind }) => kind === "audio");
  const used = [
    ...(plan.video || plan.image ? [mainStream(source, "video")] : []),
    ...soundsOf(plan).map(({ track }) => sounds[track]),
  ];
  return used.filter((stream) => stream !== undefined);
}

function missingEnds(plan: Plan, source: Source): Dropped[] {
  if (!source.truncated || isStill(plan)) return [];
  const used = usedStreams(plan, source);
  const lost = !plan.video ? [] : (source.streams ?? []).filter((stream) => isLost(stream, source));
  return [...used, ...lost].map((stream): Dropped => {
    const { kind, index, language } = stream;
    return { kind, index, ...(language && { language }), reason: "cut_off" };
  });
}

// Nothing of the main sound is whole.
function isLost({ kind, end }: SourceStream, { truncated, codecs }: Source): boolean {
  return truncated === true && kind === "audio" && codecs?.audio === null && end === 0;
}

function unsupported(plan: Plan): Dropped["reason"] {
  return isAlone(plan) ? "asked" : "not_supported";
}

// A still does not need the end of its source.
function isStill({ image }: Plan): boolean {
  return image !== null && !image.animated;
}

function isAlone({ image, waveform }: Plan): boolean {
  return image !== null || waveform !== undefined;
}

// The other videos may not have been probed yet.
function joins({ further: files = [] }: Plan): boolean {
  return files.some(({ role }) => role === "concat");
}

function mixedChannels(plan: Plan, source: Source): Dropped[] {
  if (plan.waveform) return [];
  return soundsOf(plan).flatMap(({ track, audio }): Dropped[] => {
    const trackSource = sourceForTrack(source, { sound_track: track });
    const stream = mainStream(trackSource, "audio");
    if (audio.mode !== "encode" || audio.channels >= (trackSource.audio?.channels ?? 0)) return [];
    return [{ kind: "channels", ...(stream && { index: stream.index }), reason: "downmixed" }];
  });
}

function lostDepth(plan: Plan, source: Source): Dropped[] {
  if (plan.waveform || plan.audio?.mode !== "encode") return [];
  const trackSource = sourceForTrack(source, plan);
  const stream = trackSource.streams?.find(({ kind }) => kind === "audio");
  if (!losesDepth(plan.audio.codec, trackSource)) return [];
  return [{ kind: "bit_depth", ...(stream && { index: stream.index }), reason: "no_place_in_format" }];
}

// An output with a constant rate may have fewer pictures a second than its source.
function lostPictures({ video, speed = 1 }: Plan, source: Source): Dropped[] {
  const fps = video?.mode === "encode" ? video.fps : null;
  const isLimited =
    fps !== null && fps > BOUNDS.fps.max - 1 && (source.fps ?? 0) * speed > fps * RATE_TOLERANCE;
  return isLimited ? [{ kind: "pictures", ...pictureIndex(source), reason: "not_supported" }] : [];
}

// Allows for errors in measured average rates.
const RATE_TOLERANCE = 1.01;
const USUAL_PICTURE_DEPTH = 8;

function lostColors(plan: Plan, source: Source): Dropped[] {
  const { kind, video, image } = plan;
  const encoded = image ?? (video?.mode === "encode" ? video : null);
  // Tiles of a storyboard are previews.
  if (!encoded || kind === "storyboard") return [];
  const depth = "depth" in encoded ? encoded.depth : USUAL_PICTURE_DEPTH;
  const losesDepth = (source.color?.bit_depth ?? 0) > depth;
  const reason = holdsColors(plan) ? "not_supported" : "no_place_in_format";
  const losses = [...(losesDepth ? ["bit_depth" as const] : []), ...colorLosses(encoded)];
  return losses.map((lost) => ({ kind: lost, ...pictureIndex(source), reason }));
}

// H.264 holds more than 8 bits only in profiles that players lack.
function holdsColors({ format, video }: Plan): boolean {
  if (video?.mode === "encode") return video.codec !== "h264";
  return pictureFormat(format).deep === true;
}

function pictureIndex({ streams = [], video_track = 0 }: Source): { index?: number } {
  const stream = streams.filter((each) => each.kind === "video")[video_track];
  return stream ? { index: stream.index } : {};
}

function lostAlpha(plan: Plan, source: Source): Dropped[] {
  if (source.has_alpha !== true) return [];
  const isReduced =
    plan.image !== null && pictureFormat(plan.format).binary_alpha && !holdsBinaryAlpha(source);
  if (isReduced) return [{ kind: "alpha", ...pictureIndex(source), reason: "no_place_in_format" }];
  if (!flattens(plan)) return [];
  const reason = holdsAlpha(plan.kind, plan.format) ? "not_supported" : "no_place_in_format";
  return [{ kind: "alpha", ...pictureIndex(source), reason }];
}

function holdsBinaryAlpha({ format, binary_alpha }: Source): boolean {
  return binary_alpha === true || pictureFormat(format).binary_alpha === true;
}

function lostProfile({ format, video, image }: Plan, source: Source): Dropped[] {
  if (!image && video?.mode !== "encode") return [];
  const reason = pictureFormat(format).gain_maps ? "not_supported" : "no_place_in_format";
  return [
    ...(losesProfile(format, source)
      ? [{ kind: "color_profile" as const, reason: "not_supported" as const }]
      : []),
    ...(source.gain_map ? [{ kind: "gain_map" as const, reason } as const] : []),
  ];
}

function lostChapters(plan: Plan, source: Source, metadata: MetadataMode): Dropped[] {
  if (!source.chapters) return [];
  if (plan.kind !== "video" && plan.kind !== "audio")
    return [{ kind: "chapters", reason: unsupported(plan) }];
  if (metadata === "strip") return [{ kind: "chapters", reason: "asked" }];
  if (joins(plan)) return [{ kind: "chapters", reason: "not_supported" }];
  return containerOf({ format: plan.format }).chapters
    ? []
    : [{ kind: "chapters", reason: "no_place_in_format" }];
}

function lostPictureMetadata({ exif, xmp, iptc, comments }: Source, metadata: MetadataMode): Dropped[] {
  if (!exif && !xmp && !iptc && !comments) return [];
  if (metadata === "strip") return [{ kind: "tags", reason: "asked" }];
  return [
    ...(exif || xmp || iptc ? [{ kind: "tags", reason: "private" } as const] : []),
    ...(comments ? [{ kind: "tags", reason: "not_supported" } as const] : []),
  ];
}

function lostTrackTags(plan: Plan, source: Source, metadata: MetadataMode): Dropped[] {
  const isAsked = isAlone(plan) || metadata === "strip";
  return usedStreams(plan, source).flatMap(({ index, language, tag_names: names = [] }) => {
    const reasons = names.map((name) => {
      if (isAsked) return "asked";
      return metadata === "clean" && isPrivate(name) ? "private" : "not_supported";
    });
    return [...new Set(reasons)].map((reason): Dropped => {
      return { kind: "tags", index, ...(language && { language }), reason };
    });
  });
}

function lostTags(plan: Plan, source: Source, metadata: MetadataMode): Dropped[] {
  const { tags = {}, tag_values = {}, long_tags = [] } = source;
  const names = Object.keys(tags).filter((name) => plan.tags?.[name] === undefined);
  const isJoined = Object.keys(tag_values).some((name) => plan.tags?.[name] !== undefined);
  if (names.length + long_tags.length === 0 && !isJoined) return [];
  if (isAlone(plan) || metadata === "strip") return [{ kind: "tags", reason: "asked" }];
  const isIncluded = (name: string) => metadata === "keep" || !isPrivate(name);
  const loudness = loudnessChange(plan, source) ?? (plan.audio ? "not_supported" : "asked");
  const reasons = names.map((name): Dropped["reason"] => {
    if (!isIncluded(name)) return "private";
    if (isLoudness(name) && holdsTag(plan.format, name)) return loudness;
    return holdsTag(plan.format, name) ? "not_supported" : "no_place_in_format";
  });
  if (long_tags.some(isIncluded)) reasons.push("too_long");
  if (isJoined && !holdsTagValues(plan.format)) reasons.push("joined");
  return [...new Set(reasons)].sort().map((reason) => ({ kind: "tags", reason }));
}

/**
 * Returns whether an output is likely to be larger than its source without being better: of the same kind, with no more pixels,
 * frames or seconds. Estimates from typical pictures and sound; false when in doubt.
 *
 * @throws the errors of `createPlan`.
 */
export function expectsLarger<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): boolean {
  const { filesize } = source;
  const own = kind === "animation" ? "image" : kind;
  if (own !== source.kind || filesize === undefined || ("concat" in options && options.concat)) return false;
  const { enlarged } = forecast(kind, options, source);
  const plan = createPlan(source, kind, options);
  const isFaster = plan.video?.mode === "encode" && (plan.video.fps ?? 0) > (source.fps ?? DEFAULT_FPS);
  // The bytes of a source's alpha are unknown, and a flattened output has none of them.
  if (enlarged || isFaster || (source.has_alpha === true && flattens(plan))) return false;
  return (expectedBytes(plan, source) ?? 0) > filesize;
}

function expectedBytes(plan: Plan, source: Source): number | null {
  const copied = copiedBytes(plan, source);
  if (copied) return isAlike(source.format, plan.format) ? copied.min : copied.max;
  if (plan.image) return expectedPicture(plan, source);
  const { duration, video, audio } = plan;
  if (duration === null) return null;
  const bits = [expectedPictures(plan, source), audio ? expectedSound(audio, source) : 0];
  if ((!video && !audio) || bits.some((each) => each === null)) return null;
  return bits.reduce<number>((sum, each) => sum + ((each ?? 0) * duration) / 8, 0);
}

function expectedPictures({ video }: Plan, source: Source): number | null {
  if (!video) return 0;
  if (video.mode === "copy") return streamBits(source, "video");
  if ("bitrate" in video.rate) return video.rate.bitrate;
  const { width, height } = video.geometry;
  const pictures = { width, height, fps: video.fps ?? source.fps ?? DEFAULT_FPS };
  const { codec, rate } = video;
  const source_bits = sourceBits(source, pictures);
  if (source_bits === null) return null;
  const typical = FOOTAGE_SHARE * bitsFor(codec, rate.crf, { ...pictures, source_bits: null });
  return Math.min(typical, bitsFor(codec, rate.crf, { ...pictures, source_bits }));
}

// FLAC compresses samples to a little more than half.
const LOSSLESS_SHARE = 0.55;
const PCM_BITS = 16;

function expectedSound(audio: NonNullable<Plan["audio"]>, source: Source): number | null {
  if (audio.mode === "copy") return streamBits(source, "audio");
  if (audio.bitrate !== null) return audio.bitrate;
  if (audio.codec === "flac" && isLosslessSource(source.codecs?.audio ?? "")) return null;
  const bits = pcmBits(audio.codec) ?? PCM_BITS * LOSSLESS_SHARE;
  return bits * audio.channels * audio.sample_rate;
}

// Bits per pixel of photographs at the default quality.
const PHOTO_BITS: Readonly<Record<string, number>> = { jpeg: 1.2, webp: 0.9, avif: 0.6 };

function expectedPicture({ image, format }: Plan, source: Source): number | null {
  if (!image || image.sheet || image.max_bytes !== undefined) return null;
  const { width, height } = image.geometry;
  const isSame = width === source.width && height === source.height;
  // A regenerated palette rarely compresses better.
  if (image.animated) return format === source.format && isSame ? (source.filesize ?? 0) + 1 : null;
  const isLossy = source.format in PHOTO_BITS && format in PHOTO_BITS;
  return isLossy ? ((PHOTO_BITS[format] ?? 0) * width * height) / 8 : null;
}
