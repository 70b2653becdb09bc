import { MIB } from "../util/bytes.ts";
import { FORMATS, WEBP_MAX_SIDE } from "./formats.ts";

/** How a container holds tags: in a list that is fixed (iTunes' items, QuickTime's user data, RIFF's INFO), or by any name. */
export type TagScheme = "itunes" | "quicktime" | "riff" | "id3" | "vorbis" | "matroska";

/** A layout that several containers share. */
export type ContainerFamily = "isobmff" | "matroska" | "ogg";

/** Facts of the container of a source or an output. */
export interface Container {
  /** Name for people; the format's name in upper case when absent. */
  label?: string;
  /** MIME types of a file with video, and of an audio-only file; absent where none is registered or in use. */
  mime?: readonly [pictures: string, sound?: string];
  /** Layout that several containers share, so that one parser reads them all. */
  family?: ContainerFamily;
  /**
   * ffmpeg's demuxers that may open it; ffmpeg may choose among similar formats by the first bytes alone. When absent, the
   * demuxer of the format's name, and that of its still pictures.
   */
  demuxers?: string;
  /** Whether its video packets have usable presentation times, so that they can be copied: by default, only on request, or never. */
  copies: "always" | "requested" | "never";
  /** Whether its audio packets have usable times, so that they can be copied. */
  copies_sound: boolean;
  /** Where ffmpeg can start: at any keyframe by its presentation time, at an audio packet, or only at the beginning. */
  seeks: "pictures" | "sound" | "beginning";
  /** Whether ffmpeg seeks its sound to the exact sample, with a decoder whose state lasts at most a second. */
  exact_seek: boolean;
  /** Codecs whose entry points can be looked up; null for none. */
  entries: RegExp | null;
  /** Whether ffmpeg counts times from the first packet of the selected streams, and seeks by decoding times. */
  transport: boolean;
  /** Whether its times may restart midway (AVFMT_TS_DISCONT). */
  restarts: boolean;
  /**
   * Whether an index lists its packets in advance, with sizes, times and durations, unless the file is fragmented. A truncated file
   * is refused without the option `partial`.
   */
  indexed: boolean;
  /** Whether edit lists can hide packets that are decoded but not shown. */
  edit_lists: boolean;
  /** Whether its stated duration is exact, so that an output that ends much earlier shows a truncated source. */
  exact_duration: boolean;
  /** Whether chapters, and the duration that ffmpeg writes, count from 0 rather than from the first packet. */
  zero_based: boolean;
  /** Whether tracks state a codec delay, by which ffmpeg's start time precedes the first packet. */
  codec_delay: boolean;
  /** Whether frames are evenly spaced, so that the visible one began less than a frame ago. */
  even: boolean;
  /** Whether its packets are of similar size throughout, so that the first ones and the file's size tell the duration. */
  even_sizes: boolean;
  /** Whether it is nothing but audio frames: where such files are joined, a frame may refer to one that is missing. */
  bare: boolean;
  /** Whether an info frame before its sound states the delay of its encoder. */
  info_frame: boolean;
  /** Whether frames state their number but no size: ffmpeg derives their times from the number, and takes an incomplete frame for a whole one. */
  numbered_frames: boolean;
  /** Seconds to decode before a time when no entry point can be looked up. */
  lead: number;
  /** Returns the seconds to which ffmpeg rounds a seek, from the seconds of a frame. */
  tick(frame: number): number;
  /** Ticks a second in which ffmpeg counts its packets; absent where files differ. */
  clock?: number;
  /** Whether ffmpeg must be told the format, because it recognizes it only by a file's name, which inputs lack. */
  formatFromName: boolean;
  /** The support of mediabunny (1.61): it can copy packets, only decode, or neither. */
  mediabunny: "copies" | "reads" | "none";
  /** Bytes up to which a probe lets mediabunny (1.61) read a whole file for its length; 0 where it may never stop, as in a FLAC file without frames. */
  max_measured: number;
  /** How disabled tracks show: mediabunny (1.61) leaves them out, or it and ffmpeg report enabled tracks as default ones. */
  disabled_tracks?: "hidden" | "not_default";
  /** Whether the fast core has its demuxer (core/recipe.ts). */
  fast: boolean;
  /** How the container holds tags; absent if it holds none. */
  tags?: TagScheme;
  /** Whether an output can hold a cover. */
  covers: boolean;
  /** How an output holds chapters: written into the finished file, or as tags; absent where it holds none. */
  chapters?: "file" | "tags";
  /** Whether the tags of its first sound stream are those of the file. */
  shared_tags: boolean;
  /** Codecs of its text tracks that can be read, by ffmpeg's names. */
  texts: readonly string[];
  /** ffmpeg's arguments that select the muxer; absent if Framewright does not write the container, or writes it without ffmpeg. */
  muxer?: readonly string[];
  /** ffmpeg's arguments for an output that may exceed 4 GB; absent if its muxer needs none. */
  large_args?: readonly string[];
  /** ffmpeg's arguments that add tags to an output; absent if its muxer writes them by default. */
  tag_args?: readonly string[];
  /** Bytes that a copy adds to the packets of the source: headers, an index or a seek table. */
  copy_bytes: number;
  /** Bytes of an output besides its samples; absent if the overhead grows with the packets. */
  header_bytes?: number;
  /** The facts of a format of pictures; empty for other containers. */
  picture: PictureFormat;
}

/** The facts of a format of pictures, as a source or an output. */
export interface PictureFormat {
  /**
   * The pictures that a host's own decoder must decode, because ffmpeg (5.1) misreads them or cannot read them: it takes a tile of a
   * HEIC for the whole, loses an AVIF's transparency, mirroring and tiles, and reads neither an animated WebP nor an SVG.
   */
  decoder?: "all" | "stills" | "animations";
  /** Whether its pictures are drawn at any size. */
  vector?: true;
  /** Whether an option can name a picture of this format, such as `overlay`: ffmpeg reads it without a host's decoder. */
  overlays?: true;
  /** Whether decoders rotate its pictures by a display matrix, not by an EXIF orientation. */
  matrix?: true;
  /** Whether its pixels are either opaque or transparent. */
  binary_alpha?: true;
  /** Whether an animation holds its transparency in a track of its own. */
  alpha_track?: true;
  /** Whether its pixels may be in limited range. */
  limited_range?: true;
  /** Whether ffmpeg (5.1) takes the black of its CMYK pictures for transparency. */
  cmyk?: true;
  /** Whether its pictures may be coded in scans, which a decoder keeps in memory until the last. */
  scans?: true;
  /** Whether ffmpeg can halve the sides of its pictures while it decodes them. */
  halves?: true;
  /** The range of an output's luma and chroma; absent if it holds RGB. */
  yuv?: "full" | "limited";
  /** When an output has a palette: always, or where a palette makes the file smaller. */
  palette?: "always" | "smaller";
  /** Whether the padding of an output is opaque unless the source has transparency. */
  opaque_padding?: true;
  /** Whether an output can hold more than 8 bits a color. */
  deep?: true;
  /** Whether the format can hold a gain map. */
  gain_maps?: true;
  /** Whether ffmpeg (5.1) copies a color profile into an output. */
  profiles?: true;
  /** Maximum pixels of a side of an output; absent if the format sets none. */
  max_side?: number;
  /** The unit of the muxer's option `-loop`: plays (0 for endless), or repetitions (0 for endless, -1 for none). */
  loop?: "plays" | "repetitions";
  /** Ticks a second of an animation that states how long every frame lasts; absent where ffmpeg cannot write that of the last frame. */
  frame_clock?: number;
  /** Whether ffmpeg writes identical frames of an animation as one. */
  merges_frames?: true;
  /** ffmpeg's arguments for an animation with transparent parts; absent if its muxer needs none. */
  alpha_args?: readonly string[];
  /** ffmpeg's filter that tags an output with its colors: encoders (5.1) otherwise tag it with those of the source. */
  color_filter?: string;
  /** ffmpeg's option for the quality of an output: `-q:v` falls from 31 to 1; absent if the format has no quality. */
  quality_option?: "-q:v" | "-quality" | "-crf";
  /** The worst quality on a scale whose best is 0; absent if a higher value is better. */
  worst_quality?: number;
}

const PLAIN = {
  copies: "never",
  copies_sound: true,
  seeks: "beginning",
  exact_seek: false,
  entries: null,
  transport: false,
  restarts: false,
  indexed: false,
  edit_lists: false,
  exact_duration: false,
  zero_based: false,
  codec_delay: false,
  even: false,
  even_sizes: false,
  bare: false,
  info_frame: false,
  numbered_frames: false,
  lead: 5,
  tick: () => 0,
  formatFromName: false,
  mediabunny: "copies",
  max_measured: Number.POSITIVE_INFINITY,
  fast: false,
  covers: false,
  shared_tags: false,
  texts: [],
  copy_bytes: 100,
  picture: {},
} as const satisfies Partial<Container>;

const row = (facts: Partial<Container>): Container => ({ ...PLAIN, ...facts });

const INDEXED = {
  copies: "always",
  seeks: "pictures",
  entries: /./,
  exact_duration: true,
  fast: true,
  copy_bytes: 500,
} as const satisfies Partial<Container>;
const ISOBMFF = {
  ...INDEXED,
  family: "isobmff",
  demuxers: "mov",
  indexed: true,
  edit_lists: true,
  disabled_tracks: "not_default",
  chapters: "file",
  texts: ["mov_text"],
} as const satisfies Partial<Container>;
const MATROSKA = {
  ...INDEXED,
  family: "matroska",
  demuxers: "matroska",
  clock: 1000,
  zero_based: true,
  codec_delay: true,
  max_measured: 16 * MIB,
  disabled_tracks: "hidden",
  tags: "matroska",
} as const satisfies Partial<Container>;
const SOUND = { seeks: "sound", fast: true } as const;
const OGG = {
  ...SOUND,
  family: "ogg",
  restarts: true,
  tags: "vorbis",
  covers: true,
  shared_tags: true,
  chapters: "tags",
} as const satisfies Partial<Container>;

const ONE_PICTURE = ["-f", "image2", "-update", "1"] as const;

/** The containers of sources and outputs, by Framewright's names. */
export const CONTAINERS: Readonly<Record<string, Container>> = {
  mp4: row({
    ...ISOBMFF,
    label: "MP4",
    mime: ["video/mp4", "audio/mp4"],
    tags: "itunes",
    covers: true,
    muxer: ["-movflags", "+faststart", "-f", "mp4"],
  }),
  mov: row({
    ...ISOBMFF,
    label: "QuickTime",
    mime: ["video/quicktime"],
    tags: "quicktime",
    muxer: ["-movflags", "+faststart", "-f", "mov"],
  }),
  webm: row({
    ...MATROSKA,
    label: "WebM",
    mime: ["video/webm", "audio/webm"],
    chapters: "file",
    texts: ["webvtt"],
    muxer: ["-cues_to_front", "1", "-f", "webm"],
  }),
  matroska: row({
    ...MATROSKA,
    label: "Matroska",
    mime: ["video/x-matroska", "audio/x-matroska"],
    texts: ["subrip", "ass", "webvtt"],
  }),
  flv: row({
    label: "Flash Video",
    mime: ["video/x-flv"],
    copies: "always",
    clock: 1000,
    mediabunny: "none",
    fast: true,
  }),
  // ffmpeg corrects times that jump, wrap after 26 hours or precede the first keyframe; mediabunny does not.
  mpegts: row({
    label: "MPEG-TS",
    mime: ["video/mp2t"],
    demuxers: "mpegts,mpeg",
    copies: "requested",
    entries: /^h26[45]$/,
    clock: 90_000,
    transport: true,
    restarts: true,
    even: true,
    mediabunny: "reads",
    fast: true,
  }),
  mpeg: row({
    label: "MPEG-PS",
    mime: ["video/mpeg"],
    demuxers: "mpeg,mpegts,mpegvideo",
    transport: true,
    restarts: true,
    even: true,
    mediabunny: "none",
    fast: true,
  }),
  // AVI has no presentation times, and ffmpeg guesses different ones after a seek, so it is always read from the beginning.
  avi: row({
    label: "AVI",
    mime: ["video/x-msvideo"],
    copies_sound: false,
    even: true,
    lead: Number.POSITIVE_INFINITY,
    tick: (frame: number) => frame,
    mediabunny: "none",
    fast: true,
  }),
  asf: row({ label: "Windows Media", mime: ["video/x-ms-wmv", "audio/x-ms-wma"], mediabunny: "none" }),
  ogg: row({ ...OGG, label: "Ogg", mime: ["video/ogg", "audio/ogg"], muxer: ["-f", "ogg"] }),
  // Only outputs have this name; an Opus source is an Ogg.
  opus: row({ ...OGG, label: "Opus", muxer: ["-f", "opus"] }),
  mp3: row({
    ...SOUND,
    label: "MP3",
    mime: ["audio/mpeg"],
    demuxers: "mp3,aac",
    exact_seek: true,
    bare: true,
    info_frame: true,
    tags: "id3",
    covers: true,
    chapters: "file",
    muxer: ["-f", "mp3"],
    // The info frame.
    copy_bytes: 500,
  }),
  // ADTS has no tags, so an ID3 tag precedes it.
  aac: row({
    ...SOUND,
    label: "AAC",
    mime: ["audio/aac"],
    demuxers: "aac,mp3",
    even_sizes: true,
    bare: true,
    max_measured: MIB,
    tags: "id3",
    muxer: ["-f", "adts"],
    tag_args: ["-write_id3v2", "1"],
  }),
  wav: row({
    label: "WAV",
    mime: ["audio/wav"],
    demuxers: "wav,w64",
    exact_duration: true,
    fast: true,
    tags: "riff",
    muxer: ["-f", "wav"],
    // RF64 (EBU Tech 3306) has 64-bit sizes, but fewer programs read it.
    large_args: ["-rf64", "auto"],
    header_bytes: 44,
  }),
  flac: row({
    label: "FLAC",
    mime: ["audio/flac"],
    exact_duration: true,
    numbered_frames: true,
    max_measured: 0,
    fast: true,
    tags: "vorbis",
    covers: true,
    chapters: "tags",
    muxer: ["-f", "flac"],
    // The seek table.
    copy_bytes: 500,
  }),
  aiff: row({ label: "AIFF", mime: ["audio/aiff"], fast: true }),
  ac3: row({ label: "AC-3", mime: ["audio/ac3"], bare: true, fast: true }),
  eac3: row({ label: "E-AC-3", mime: ["audio/eac3"], bare: true, fast: true }),
  dts: row({ mediabunny: "none", bare: true }),
  // ffmpeg's demuxer of raw H.265 has the codec's other name.
  h265: row({ demuxers: "hevc", mediabunny: "none" }),
  amr: row({ label: "AMR", mime: ["audio/amr"] }),
  caf: row({ label: "CAF", mime: ["audio/x-caf"] }),
  gif: row({
    label: "GIF",
    mime: ["image/gif"],
    demuxers: "gif,gif_pipe",
    tick: () => 0.01,
    muxer: ["-f", "gif"],
    picture: {
      overlays: true,
      binary_alpha: true,
      palette: "always",
      loop: "repetitions",
      // Players clear the area of a frame before the next one with transparent parts, so each frame must cover all that earlier ones drew.
      alpha_args: ["-gifflags", "-offsetting"],
    },
  }),
  jpeg: row({
    label: "JPEG",
    mime: ["image/jpeg"],
    demuxers: "jpeg_pipe,mjpeg,image2",
    muxer: ONE_PICTURE,
    picture: {
      overlays: true,
      cmyk: true,
      scans: true,
      halves: true,
      yuv: "full",
      gain_maps: true,
      profiles: true,
      quality_option: "-q:v",
    },
  }),
  // Raw Motion JPEG, a series of JPEGs. ffmpeg recognizes it as pictures, and shows 25 a second.
  mjpeg: row({
    label: "Motion JPEG",
    mime: ["video/x-motion-jpeg"],
    demuxers: "jpeg_pipe,mjpeg",
    even: true,
    lead: Number.POSITIVE_INFINITY,
    mediabunny: "none",
  }),
  jpegls: row({ mime: ["image/jls"], demuxers: "jpegls_pipe" }),
  // The format of an icon file (ICO) is that of its pictures.
  png: row({
    label: "PNG",
    mime: ["image/png"],
    demuxers: "png_pipe,apng,ico",
    muxer: ONE_PICTURE,
    picture: {
      overlays: true,
      limited_range: true,
      palette: "smaller",
      deep: true,
      profiles: true,
      // An untagged PNG is sRGB.
      color_filter: "setparams=color_primaries=unknown:color_trc=unknown",
    },
  }),
  webp: row({
    label: "WebP",
    mime: ["image/webp"],
    muxer: ["-f", "webp"],
    picture: {
      decoder: "animations",
      overlays: true,
      yuv: "limited",
      max_side: WEBP_MAX_SIDE,
      loop: "plays",
      merges_frames: true,
      quality_option: "-quality",
    },
  }),
  avif: row({
    label: "AVIF",
    mime: ["image/avif"],
    demuxers: "mov",
    muxer: ["-f", "avif"],
    picture: {
      decoder: "stills",
      matrix: true,
      alpha_track: true,
      yuv: "limited",
      // Transparent padding was not requested, and not every encoder can write it.
      opaque_padding: true,
      deep: true,
      gain_maps: true,
      // The muxer's ticks are 1 ms halved until there are at least 10,000 a second.
      frame_clock: 16_000,
      color_filter: "setparams=color_primaries=bt709:color_trc=iec61966-2-1:colorspace=smpte170m",
      worst_quality: 63,
      quality_option: "-crf",
    },
  }),
  heic: row({ label: "HEIC", mime: ["image/heic"], demuxers: "mov", picture: { decoder: "all" } }),
  bmp: row({ label: "BMP", mime: ["image/bmp"], demuxers: "bmp_pipe,ico", picture: { overlays: true } }),
  svg: row({ label: "SVG", mime: ["image/svg+xml"], picture: { decoder: "all", vector: true } }),
  tiff: row({ label: "TIFF", mime: ["image/tiff"], picture: { overlays: true } }),
  targa: row({ label: "TGA", mime: ["image/x-tga"], demuxers: "image2pipe", formatFromName: true }),
  pam: row({
    label: "PAM",
    mime: ["image/x-portable-arbitrarymap"],
    demuxers: "image2pipe",
    formatFromName: true,
  }),
  // ffmpeg (5.1) takes one whose header stands on a single line for other media.
  ppm: row({
    label: "PPM",
    mime: ["image/x-portable-pixmap"],
    demuxers: "image2pipe",
    formatFromName: true,
  }),
  pgm: row({
    label: "PGM",
    mime: ["image/x-portable-graymap"],
    demuxers: "image2pipe",
    formatFromName: true,
  }),
  pbm: row({
    label: "PBM",
    mime: ["image/x-portable-bitmap"],
    demuxers: "image2pipe",
    formatFromName: true,
  }),
};

const UNKNOWN = row({ mediabunny: "none" });

// Only ffmpeg follows an edit list of several parts or descriptions that change midway, and only when it decodes from the beginning.
const EDITED = {
  copies: "never",
  copies_sound: false,
  seeks: "beginning",
  entries: null,
  lead: Number.POSITIVE_INFINITY,
  mediabunny: "none",
} as const satisfies Partial<Container>;

// A file whose clock restarts cannot be seeked, and only ffmpeg follows it.
const RESTARTED = {
  seeks: "beginning",
  entries: null,
  lead: Number.POSITIVE_INFINITY,
  mediabunny: "none",
} as const satisfies Partial<Container>;

/** The facts of a source that decide how its container is read. */
export interface ContainedSource {
  format: string;
  edited?: true | undefined;
  restarted?: true | undefined;
}

/** Returns whether a format is an MP4 or a variant of it, with boxes of ISO/IEC 14496-12. */
export function isIsobmff(format: string): boolean {
  return containerOf({ format }).family === "isobmff";
}

/** Returns whether a format is Matroska, or WebM, its variant for the web. */
export function isMatroska(format: string): boolean {
  return containerOf({ format }).family === "matroska";
}

/** Returns whether a format is an Ogg, whatever codec its sound has. */
export function isOgg(format: string): boolean {
  return containerOf({ format }).family === "ogg";
}

/** Returns whether a source is drawn at any size, as an SVG is. */
export function isVector({ format }: ContainedSource): boolean {
  return pictureFormat(format).vector === true;
}

/** Returns the facts of a format of pictures. */
export function pictureFormat(format: string): PictureFormat {
  return containerOf({ format }).picture;
}

/** Returns whether the padding around a picture is transparent in an output of a format, unless a background is set. */
export function hasClearPadding(format: string, source: { has_alpha?: boolean | undefined }): boolean {
  const pictures: Readonly<Record<string, { alpha: boolean }>> = FORMATS.image;
  const isOpaque = pictureFormat(format).opaque_padding && source.has_alpha !== true;
  return pictures[format]?.alpha === true && !isOpaque;
}

/** Returns whether a format of pictures has a quality to choose. */
export function hasQuality(format: string): boolean {
  return pictureFormat(format).quality_option !== undefined;
}

/** Returns whether a format is the variant of MP4 for QuickTime, whose tags, texts and colors have forms of their own. */
export function isQuickTime(format: string): boolean {
  return containerOf({ format }).tags === "quicktime";
}

/** The seconds that a source's edit list hides at either end. */
export interface HiddenEnds {
  preroll?: number | undefined;
  postroll?: number | undefined;
}

/** Returns whether the edit list of a source hides pictures or sound at either end. */
export function hidesEnds({ preroll, postroll }: HiddenEnds): boolean {
  return preroll !== undefined || postroll !== undefined;
}

/** Returns whether a copy into a format would play what the edit list of the source hides. */
export function playsHidden(source: HiddenEnds, format: string): boolean {
  return hidesEnds(source) && !containerOf({ format }).edit_lists;
}

/** Returns the facts of a source's container; for an unknown one, those of a file that cannot be copied. */
export function containerOf({ format, edited, restarted }: ContainedSource): Container {
  const container = Object.hasOwn(CONTAINERS, format) ? (CONTAINERS[format] ?? UNKNOWN) : UNKNOWN;
  if (restarted) return { ...container, ...RESTARTED };
  return edited ? { ...container, ...EDITED } : container;
}

/**
 * Returns whether ffmpeg times all frames of bare sound, or all links of an Ogg, by the sample rate of the first. The probe times each
 * by its own sample rate.
 */
export function isTimedByFirst({ format, edited, restarted }: ContainedSource): boolean {
  const { bare, transport } = containerOf({ format });
  return edited === true && (bare || (restarted === true && !transport));
}

/** Returns whether ffmpeg reads part of a frame at a source's end as if it were whole; no decoder plays it. */
export function endsInFrame({
  format,
  truncated,
}: {
  format: string;
  truncated?: true | undefined;
}): boolean {
  return truncated === true && containerOf({ format }).numbered_frames;
}

/** Returns the names of the containers for which a predicate holds. */
export function containersWith(fact: (container: Container) => boolean): ReadonlySet<string> {
  return new Set(Object.keys(CONTAINERS).filter((name) => fact(containerOf({ format: name }))));
}
