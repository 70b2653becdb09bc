import { containerOf, pictureFormat } from "./containers.ts";
import { createPlan } from "./create-plan.ts";
import { losesDepth } from "./features/audio-format.ts";
import { losesProfile } from "./features/color-profile.ts";
import { isPictured } from "./features/subtitles.ts";
import { sourceForTrack } from "./features/track.ts";
import { flattens, holdsAlpha } from "./features/transparency.ts";
import { colorLosses } from "./features.ts";
import { BOUNDS, type EncodeKind } from "./formats.ts";
import { mainStream } from "./main-tracks.ts";
import type { OptionsOf } from "./options.ts";
import { type Plan, soundsOf } from "./plan.ts";
import { audibleTrack, loudnessChange } from "./sound-plan.ts";
import type { Dropped, Source, SourceStream } from "./source.ts";
import { holdsTag, holdsTagValues, isLoudness, isPrivate, type MetadataMode } from "./tags.ts";

/**
 * Lists the parts of a source that the output of these options would lack.
 *
 * @throws the errors of {@link createPlan}.
 */
export function dropped<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): Dropped[] {
  return listDropped(createPlan(source, kind, options), source, options);
}

/** The options on which the reason of an omission depends. */
interface DroppingOptions {
  metadata?: MetadataMode | undefined;
  fps?: number | undefined;
}

/** Lists the parts of a source that a plan omits; `options` are those of the request. */
export function listDropped(plan: Plan, source: Source, options: object = {}): Dropped[] {
  const others = plan.concat?.slice(1) ?? [];
  return [
    ...listOwn(plan, source, options),
    ...others.flatMap((part) =>
      listOwn(planOfPart(plan, part.source), part.source, options).map((entry) => ({
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

function listOwn(plan: Plan, source: Source, options: object): Dropped[] {
  const { streams = [] } = source;
  const { metadata = "clean", fps }: DroppingOptions = options;
  return [
    ...streams.flatMap((stream): Dropped[] => {
      const reason = reasonOf(stream, plan, source, metadata);
      const { kind, index, language } = stream;
      return reason === null ? [] : [{ kind, index, ...(language && { language }), reason }];
    }),
    ...missingEnds(plan, source),
    ...mixedChannels(plan, source),
    ...lostPictures(plan, source, fps),
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

// The main sound has no whole packet.
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
function lostPictures({ video, speed = 1 }: Plan, source: Source, requested: number | undefined): Dropped[] {
  const fps = video?.mode === "encode" ? video.fps : null;
  const isLimited =
    fps !== null && fps > BOUNDS.fps.max - 1 && (source.fps ?? 0) * speed > fps * RATE_TOLERANCE;
  const reason = requested === undefined ? "not_supported" : "asked";
  return isLimited ? [{ kind: "pictures", ...pictureIndex(source), reason }] : [];
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
