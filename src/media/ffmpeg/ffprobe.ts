import { type Chapter, readChapters } from "../chapters.ts";
import { containerOf } from "../containers.ts";
import { hidesDepth, USUAL_DEPTH } from "../features/audio-format.ts";
import { isSameFps } from "../features/fps.ts";
import { mainTrack, type TrackFacts } from "../main-tracks.ts";
import {
  displayedSize,
  matrixOrientation,
  type Orientation,
  parsePixelAspect,
  toRightAngle,
} from "../picture-geometry.ts";
import type { Source, SourceColor, SourceStream } from "../source.ts";
import { readTags, type TagFacts, trackTagNames } from "../tags.ts";
import * as errors from "./errors.ts";

/** Facts about a file that do not come from ffprobe. */
export interface ProbedFile {
  url: string;
  filesize: number;
}

/**
 * Returns the ffprobe arguments whose JSON report {@link parseFfprobe} reads. In some files only the first frame shows rotation and
 * interlacing, so the report includes it.
 */
export function ffprobeArgs(input: string): string[] {
  return [
    "-v",
    "error",
    "-of",
    "json",
    "-show_format",
    "-show_streams",
    "-show_chapters",
    "-read_intervals",
    "%+#1",
    "-show_entries",
    "frame=media_type,stream_index,interlaced_frame:frame_tags=Orientation:frame_side_data=rotation:program_stream=index",
    input,
  ];
}

/** Converts ffprobe's report to a Source; throws `input_unsupported` when it has neither audio nor video. */
export function parseFfprobe(json: unknown, file: ProbedFile): Source {
  const report = withoutGuesses(asRecord(json));
  const format = asRecord(report.format);
  const all = asList(report.streams).map(asRecord);
  const streams = all.filter((stream) => !isCover(stream));
  const demuxer = asText(format.format_name) ?? "";
  const brand = asText(asRecord(format.tags).major_brand);
  const [pictures, sounds] = [ofKind(streams, "video"), ofKind(streams, "audio")];
  const image = nameFormat(demuxer, brand, [])?.image === true;
  const { video_track, sound_track, others } = mainTracks(report, pictures, sounds, image);
  const [video, audio] = [pictures[video_track], sounds[sound_track ?? -1]];
  const codecs = [video, audio].flatMap((stream) => asText(stream?.codec_name) ?? []);
  const name = nameFormat(demuxer, brand, codecs);
  if (!name || (!video && !audio)) throw errors.noStreams();

  const animated = name.image && isAnimated(format, video);
  const still = name.image && !animated;
  const kind = name.image ? "image" : video ? "video" : "audio";
  const duration = asNumber(format.duration) ?? asNumber(video?.duration) ?? asNumber(audio?.duration);
  const chapters = chaptersOf(asList(report.chapters), duration, originOf(name.format, format));
  return withoutUndefined({
    object: "source",
    url: file.url,
    kind,
    format: name.format,
    mime: mimeOf(name.format, kind),
    filesize: file.filesize,
    ...(video ? pictureFacts(video, framesOf(report, video, pictures), still, name) : {}),
    duration: still || duration === undefined || duration <= 0 ? undefined : duration,
    priming: primingOf(name.format, asNumber(format.start_time)),
    codecs: { video: codecOf(video), audio: codecOf(audio) },
    bitrate: still ? undefined : asNumber(format.bit_rate),
    animated: name.image ? animated : undefined,
    audio: audio ? soundFacts(audio) : undefined,
    ...(name.image ? {} : tagsOf(format, audio)),
    chapters,
    streams: all
      .filter((stream) => !isChapterTrack(stream, chapters !== undefined))
      .map((stream) => ({
        ...streamFacts(stream, sound_track === 0 ? audio : undefined, demuxer),
        ...(PLAYABLE.has(stream.codec_type) && !name.image && !isCover(stream) && ownTags(stream, demuxer)),
        ...(PLAYABLE.has(stream.codec_type) && others.has(stream.index) && { other_program: true as const }),
      })),
    video_track: video_track || undefined,
    sound_track: sound_track || undefined,
  });
}

const PLAYABLE: ReadonlySet<unknown> = new Set(["video", "audio"]);

function ofKind(streams: readonly Report[], kind: string): Report[] {
  return streams.filter((stream) => stream.codec_type === kind);
}

function mainTracks(report: Report, pictures: readonly Report[], sounds: readonly Report[], image: boolean) {
  const demuxer = asText(asRecord(report.format).format_name) ?? "";
  const video_track = mainPictures(pictures, demuxer, image);
  const others = otherPrograms(report, pictures[video_track]);
  const own = sounds.filter((stream) => !others.has(stream.index));
  const best = mainTrack(
    "audio",
    own.map((stream) => trackFacts(stream, demuxer)),
  );
  const sound = own[best];
  return { video_track, sound_track: sound && sounds.indexOf(sound), others };
}

// The programs of a transport stream are channels, each with its own pictures and sound.
function otherPrograms(report: Report, video: Report | undefined): ReadonlySet<unknown> {
  const programs = asList(report.programs).map((program) =>
    asList(asRecord(program).streams).map((stream) => asRecord(stream).index),
  );
  const own = programs.find((indexes) => indexes.includes(video?.index));
  return new Set(own && programs.flat().filter((index) => !own.includes(index)));
}

/** Returns the identifiers of the streams of a transport stream that {@link parseFfprobe} describes, as ffprobe writes them. */
export function mainStreamIds(json: unknown): unknown[] {
  const report = asRecord(json);
  const streams = asList(report.streams).map(asRecord);
  const [pictures, sounds] = [ofKind(streams, "video"), ofKind(streams, "audio")];
  const { video_track, sound_track } = mainTracks(report, pictures, sounds, false);
  return [pictures[video_track], sounds[sound_track ?? -1]].flatMap((stream) => stream?.id ?? []);
}

function mainPictures(pictures: readonly Report[], demuxer: string, image: boolean): number {
  // An animated AVIF keeps its transparency in a second track; an icon has a picture of each size.
  if (image && demuxer !== "ico") return 0;
  return mainTrack(
    image ? "image" : "video",
    pictures.map((stream) => trackFacts(stream, demuxer)),
  );
}

function trackFacts(stream: Report, demuxer: string): TrackFacts {
  // The programs of a transport stream are channels, and the first streams belong together.
  const compared = demuxer !== "mpegts";
  return {
    codec: codecOf(stream),
    empty: asNumber(stream.nb_frames) === 0,
    still: SINGLE_PICTURES.has(asText(stream.codec_name) ?? "") && countFrames(stream) <= 1,
    disabled: isDisabled(stream, demuxer),
    default: asRecord(stream.disposition).default === 1,
    depth: asNumber(stream.bits_per_pixel),
    ...(compared && {
      pixels: (asNumber(stream.width) ?? 0) * (asNumber(stream.height) ?? 0),
      seconds: secondsOf(stream),
    }),
  };
}

// ffmpeg reports an enabled MP4 track as default, and never reports a disabled Matroska track: the probe adds that.
function isDisabled({ disposition }: Report, demuxer: string): boolean {
  const flags = asRecord(disposition);
  return demuxer.split(",").includes("mp4") ? flags.default === 0 : flags.disabled === 1;
}

const SINGLE_PICTURES: ReadonlySet<string> = new Set([
  ...["mjpeg", "mjpegb", "ljpeg", "jpegls", "jpeg2000", "jpegxl", "webp", "png", "apng", "gif"],
  ...["bmp", "tiff", "targa", "ppm", "pgm", "pbm", "pam", "pcx", "psd", "sgi", "dds", "svg", "qoi"],
]);

function countFrames(stream: Report): number {
  const frames = asNumber(stream.nb_frames) ?? asNumber(trackTag(stream, "NUMBER_OF_FRAMES"));
  return frames ?? Math.round((secondsOf(stream) ?? 0) * (asRatio(stream.avg_frame_rate) ?? 0));
}

function secondsOf(stream: Report): number | undefined {
  const [, hours = "", minutes = "", seconds = ""] =
    /^(\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(asText(trackTag(stream, "DURATION")) ?? "") ?? [];
  const end = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return asNumber(stream.duration) ?? (end > 0 ? end - (asNumber(stream.start_time) ?? 0) : undefined);
}

// mkvmerge appends a language to a tag's name.
function trackTag({ tags }: Report, name: string): unknown {
  return Object.entries(asRecord(tags)).find(([key]) => key === name || key.startsWith(`${name}-`))?.[1];
}

function framesOf(report: Report, video: Report, [first]: readonly Report[]): Report[] {
  const frames = asList(report.frames).map(asRecord);
  return video === first
    ? frames.filter(({ stream_index }) => stream_index === undefined || stream_index === video.index)
    : frames.filter(({ stream_index }) => stream_index === video.index);
}

function pictureFacts(
  video: Report,
  frames: Report[],
  still: boolean,
  { image, format }: { image: boolean; format: string },
): Partial<Source> {
  const frame = frames.find((each) => each.media_type === "video") ?? {};
  const coded_width = asNumber(video.width) ?? 0;
  const coded_height = asNumber(video.height) ?? 0;
  if (coded_width <= 0 || coded_height <= 0) throw errors.pictureSizeUnreadable();
  const ratio = asText(video.sample_aspect_ratio) ?? "1:1";
  const pixel_aspect = parsePixelAspect(ratio);
  const { rotate, mirror, tilt } = orientationOf(video, frame);
  if (tilt !== undefined) throw errors.tilted({ degrees: tilt });
  const stored = { width: coded_width, height: coded_height, pixel_aspect, rotate };
  const pixel_format = asText(video.pix_fmt);
  const common = asRatio(video.r_frame_rate);
  const fps = asRatio(video.avg_frame_rate) ?? (common === MILLISECOND_CLOCK ? undefined : common);
  const isEven = !still && containerOf({ format }).even;
  const isConstant = isEven && fps !== undefined && common !== undefined && isSameFps(fps, common);
  return withoutUndefined({
    ...displayedSize(stored),
    coded_width,
    coded_height,
    sample_aspect_ratio: pixel_aspect === 1 ? "1:1" : ratio,
    rotation: rotate,
    flipped: mirror ? (true as const) : undefined,
    fps: still || fps === undefined ? undefined : Math.round(fps * 1e4) / 1e4,
    constant_fps: isConstant ? (true as const) : undefined,
    pixel_format,
    has_alpha: hasAlpha(video),
    premultiplied: video.alpha_mode === "premultiplied" ? (true as const) : undefined,
    // ffmpeg reports an interlaced PNG as interlaced, but it has no fields.
    interlaced: image ? false : isInterlaced(video, frame),
    color: colorFacts(video),
  });
}

// For unevenly spaced pictures without a declared rate, as in WebM by a browser's recorder, ffprobe names the rate of the clock.
const MILLISECOND_CLOCK = 1000;

function soundFacts(audio: Report): Source["audio"] {
  const channels = asNumber(audio.channels);
  const sample_rate = asNumber(audio.sample_rate);
  if (!channels || !sample_rate) return undefined;
  return { channels, sample_rate, ...(hidesDepth(codecOf(audio) ?? "") && depthOf(audio)) };
}

function depthOf({ bits_per_raw_sample, sample_fmt }: Report): Partial<NonNullable<Source["audio"]>> {
  const bits = asNumber(bits_per_raw_sample) ?? 0;
  const floating = FLOATING.test(asText(sample_fmt) ?? "");
  return { ...(bits > USUAL_DEPTH && { bit_depth: bits }), ...(floating && { floating }) };
}

const FLOATING = /^(flt|dbl)p?$/;

function primingOf(format: string, start: number | undefined): number | undefined {
  if (!containerOf({ format }).codec_delay) return undefined;
  return start !== undefined && start < 0 ? -start : undefined;
}

function tagsOf(format: Report, audio: Report | undefined): TagFacts {
  const both = [format.tags, sharesTags(asText(format.format_name)) ? audio?.tags : undefined];
  return readTags(
    both.flatMap((tags) =>
      Object.entries(asRecord(tags)).map(([name, value]) => [name, String(value)] as const),
    ),
  );
}

function originOf(name: string, format: Report): number {
  return containerOf({ format: name }).zero_based ? (asNumber(format.start_time) ?? 0) : 0;
}

function chaptersOf(
  reports: readonly unknown[],
  duration: number | undefined,
  origin: number,
): Chapter[] | undefined {
  const chapters = reports.map(asRecord).map(({ start_time, end_time, tags }) => ({
    start: asNumber(start_time) ?? Number.NaN,
    end: asNumber(end_time),
    title: asText(asRecord(tags).title) ?? "",
  }));
  return readChapters(chapters, duration, origin);
}

function isChapterTrack(stream: Report, chapters: boolean): boolean {
  return chapters && stream.codec_type === "data" && stream.codec_tag_string === "text";
}

// Raw MPEG video states no length. ffprobe divides the size by the bitrate in the header, which is only a maximum.
function withoutGuesses(report: Report): Report {
  const { format_name, ...format } = asRecord(report.format);
  if (format_name !== "mpegvideo") return report;
  const strip = ({ duration: _, bit_rate: __, ...facts }: Report): Report => facts;
  const streams = asList(report.streams).map((stream) => strip(asRecord(stream)));
  return { ...report, format: { ...strip(format), format_name }, streams };
}

function streamFacts(stream: Report, described: Report | undefined, demuxer: string): SourceStream {
  const kind = asText(stream.codec_type);
  const cover = isCover(stream);
  const language = asText(asRecord(stream.tags).language);
  return withoutUndefined({
    index: asNumber(stream.index) ?? 0,
    kind: cover ? "cover" : kind === "video" || kind === "audio" || kind === "subtitle" ? kind : "data",
    codec: codecOf(stream),
    duration: cover ? undefined : asNumber(stream.duration),
    bitrate: cover ? undefined : asNumber(stream.bit_rate),
    language: language === "und" ? undefined : language,
    ...(kind === "subtitle" && subtitleFacts(stream)),
    ...(kind === "audio" && stream !== described ? soundFacts(stream) : {}),
    disabled:
      !cover && (kind === "video" || kind === "audio") && isDisabled(stream, demuxer)
        ? (true as const)
        : undefined,
  });
}

function sharesTags(demuxer = ""): boolean {
  return containerOf({ format: demuxer }).shared_tags;
}

function ownTags({ tags }: Report, demuxer: string): Pick<SourceStream, "tag_names"> {
  if (sharesTags(demuxer)) return {};
  const names = trackTagNames(
    Object.entries(asRecord(tags)).map(([name, value]) => [name, String(value)] as const),
  );
  return names.length > 0 ? { tag_names: names } : {};
}

function subtitleFacts({ tags, disposition, bit_rate }: Report): Partial<SourceStream> {
  const has = asRecord(disposition);
  return withoutUndefined({
    title: asText(asRecord(tags).title),
    bitrate: asNumber(bit_rate) ?? asNumber(asRecord(tags).BPS),
    default: has.default === 1 ? (true as const) : undefined,
    forced: has.forced === 1 ? (true as const) : undefined,
  });
}

function colorFacts(video: Report): SourceColor {
  const transfer = specified(video.color_transfer);
  const pixels = asText(video.pix_fmt) ?? "";
  const range = asText(video.color_range);
  const limited = range === "tv" ? "limited" : undefined;
  return withoutUndefined({
    primaries: specified(video.color_primaries),
    transfer,
    space: specified(video.color_space),
    range: range === "pc" || pixels.startsWith("yuvj") ? "full" : limited,
    bit_depth: bitDepth(pixels, asNumber(video.bits_per_raw_sample)),
    hdr: transfer === "smpte2084" || transfer === "arib-std-b67",
  });
}

function bitDepth(pixels: string, raw: number | undefined): number | undefined {
  const [, depth] = /(?:p|gray|x2rgb|p0)(9|10|12|14|16)(?:le|be)?$/.exec(pixels) ?? [];
  if (depth) return Number(depth);
  if (/^(rgb|bgr)48|^(rgba|bgra)64|^ya16/.test(pixels)) return 16;
  if (pixels.startsWith("xyz12")) return 12;
  if (/f32(le|be)?$/.test(pixels)) return 32;
  if (raw) return raw;
  return pixels ? 8 : undefined;
}

// ffmpeg derives a frame's matrix from EXIF data too, but gets the rotation of mirrored orientations wrong.
function orientationOf(video: Report, frame: Report): Orientation {
  const value = Number(asRecord(frame.tags).Orientation);
  const exif = value >= 1 ? (EXIF[value] ?? EXIF[1]) : undefined;
  const tag = asNumber(asRecord(video.tags).rotate);
  const turned = tag === undefined ? undefined : { rotate: toRightAngle(tag), mirror: false };
  return matrixOf(video) ?? turned ?? exif ?? matrixOf(frame) ?? UPRIGHT;
}

const UPRIGHT: Orientation = { rotate: 0, mirror: false };

// ffprobe lists a matrix row by row, in fixed point, and counts its rotation counterclockwise.
function matrixOf(report: Report): Orientation | undefined {
  for (const side of asList(report.side_data_list).map(asRecord)) {
    const rows = [...(asText(side.displaymatrix) ?? "").matchAll(/:\s+(-?\d+)\s+(-?\d+)/g)];
    const [a = 0, b = 0, c = 0, d = 0] = rows.slice(0, 2).flatMap(([, ...row]) => row.map(Number));
    if (a * d - b * c !== 0) return matrixOrientation([a, b, c, d]);
    const rotation = asNumber(side.rotation);
    if (rotation !== undefined) return { rotate: toRightAngle(-rotation), mirror: false };
  }
  return undefined;
}

const EXIF: Readonly<Record<number, Orientation>> = {
  1: UPRIGHT,
  2: { rotate: 0, mirror: true },
  3: { rotate: 180, mirror: false },
  4: { rotate: 180, mirror: true },
  5: { rotate: 90, mirror: true },
  6: { rotate: 90, mirror: false },
  7: { rotate: 270, mirror: true },
  8: { rotate: 270, mirror: false },
};

function isInterlaced(video: Report, frame: Report): boolean | undefined {
  const order = specified(video.field_order);
  if (order !== undefined) return order !== "progressive";
  const first = asNumber(frame.interlaced_frame);
  return first === undefined ? undefined : first === 1;
}

function hasAlpha(video: Report): boolean {
  // ffmpeg reports the black component of a CMYK JPEG as alpha.
  if (asText(video.codec_name) === "mjpeg") return false;
  const pixels = asText(video.pix_fmt) ?? "";
  const tag = asRecord(video.tags).alpha_mode ?? asRecord(video.tags).ALPHA_MODE;
  return /^(yuva|ayuv|rgba|bgra|argb|abgr|gbrap|ya8|ya16)/.test(pixels) || asNumber(tag) === 1;
}

function isAnimated(format: Report, video: Report | undefined): boolean {
  return format.format_name === "apng" || (asNumber(video?.nb_frames) ?? 1) > 1;
}

function isCover(stream: Report): boolean {
  return asNumber(asRecord(stream.disposition).attached_pic) === 1;
}

function codecOf(stream: Report | undefined): string | null {
  const codec = asText(stream?.codec_name);
  return codec === undefined ? null : nameCodec(codec);
}

function specified(value: unknown): string | undefined {
  const text = asText(value);
  return text === "unknown" || text === "unspecified" || text === "reserved" ? undefined : text;
}

function withoutUndefined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}

type Report = Readonly<Record<string, unknown>>;

function asRecord(value: unknown): Report {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Report) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a non-empty string; undefined for `N/A` and the like. */
function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value !== "N/A" ? value : undefined;
}

function asNumber(value: unknown): number | undefined {
  if (typeof value !== "number" && asText(value) === undefined) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Parses a ratio such as `30000/1001`; undefined unless it is above 0. */
function asRatio(value: unknown): number | undefined {
  const [over = "", under = ""] = asText(value)?.split("/") ?? [];
  const ratio = Number(over) / Number(under);
  return Number.isFinite(ratio) && ratio > 0 ? ratio : undefined;
}

/** A format, and whether it is an image format (still or animated). */
export interface FormatName {
  format: string;
  image: boolean;
}

const IMAGE_CODECS: Readonly<Record<string, string>> = { mjpeg: "jpeg", jpegls: "jpegls", ljpeg: "jpeg" };

const WEBM_CODECS: ReadonlySet<string> = new Set(["vp8", "vp9", "av1", "opus", "vorbis"]);

const BRANDS: Readonly<Record<string, FormatName>> = {
  "qt  ": { format: "mov", image: false },
  avif: { format: "avif", image: true },
  avis: { format: "avif", image: true },
  heic: { format: "heic", image: true },
  mif1: { format: "heic", image: true },
};

// Demuxers that open other files, those that draw text as pictures, and one that takes the pictures of an Apple icon for a video.
const REFUSED: ReadonlySet<string> = new Set([
  "mjpeg_2000",
  "tty",
  "bin",
  "xbin",
  "adf",
  "idf",
  "concat",
  "hls",
  "applehttp",
  "dash",
  "ffmetadata",
  "sdp",
  "lavfi",
]);

const RENAMED: Readonly<Record<string, string>> = {
  hevc: "h265",
  matroska: "matroska",
  mpegvideo: "mpegvideo",
};

/** Names a format by ffprobe's demuxer, the file's brand and its codecs; null when it is not media. */
function nameFormat(
  demuxer: string,
  brand: string | undefined,
  codecs: readonly string[],
): FormatName | null {
  const names = demuxer.split(",");
  const [first = ""] = names;
  if (names.some((name) => REFUSED.has(name))) return null;
  if (names.includes("mp4")) return BRANDS[brand ?? ""] ?? { format: "mp4", image: false };
  if (names.includes("webm")) {
    const web = codecs.length > 0 && codecs.every((codec) => WEBM_CODECS.has(codec));
    return { format: web ? "webm" : "matroska", image: false };
  }
  if (first === "gif") return { format: "gif", image: true };
  if (first === "apng") return { format: "png", image: true };
  if (first.startsWith("image2") || first.endsWith("_pipe") || first === "ico") {
    const codec = codecs[0] ?? "";
    return {
      format: IMAGE_CODECS[codec] ?? (first.endsWith("_pipe") ? first.slice(0, -5) : codec),
      image: true,
    };
  }
  return { format: RENAMED[first] ?? first, image: false };
}

function nameCodec(codec: string): string {
  return codec === "hevc" ? "h265" : codec;
}

/** Returns the MIME type of a format; undefined when none is registered or in use. */
export function mimeOf(format: string, kind: string): string | undefined {
  const [first, audio] = containerOf({ format }).mime ?? [];
  return kind === "audio" ? (audio ?? first) : first;
}
