/** Facts of a source's container. */
export interface Container {
  /** Name for people; the format's name in upper case when absent. */
  label?: string;
  /** MIME types of a file with video, and of an audio-only file. */
  mime: readonly [pictures: string, sound?: string];
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
  /** Codecs whose entry points can be looked up; null for none. */
  entries: RegExp | null;
  /** Whether ffmpeg counts times from the first packet of the selected streams, and seeks by decoding times. */
  transport: boolean;
  /** Whether its times may restart midway (AVFMT_TS_DISCONT). */
  restarts: boolean;
  /** Whether it lists its packets in advance, so that a truncated file is refused without the option `partial`. */
  whole: boolean;
  /** Whether frames are evenly spaced, so that the visible one began less than a frame ago. */
  even: boolean;
  /** Seconds to decode before a time when no entry point can be looked up. */
  lead: number;
  /** Returns the seconds to which ffmpeg rounds a seek, from the seconds of a frame. */
  tick(frame: number): number;
  /** Ticks a second in which ffmpeg counts its packets; absent where files differ. */
  clock?: number;
  /** The support of mediabunny (1.61): it can copy packets, only decode, or neither. */
  mediabunny: "copies" | "reads" | "none";
  /** Whether the fast core has its demuxer (core/recipe.ts). */
  fast: boolean;
}

const PLAIN = {
  copies: "never",
  copies_sound: true,
  seeks: "beginning",
  entries: null,
  transport: false,
  restarts: false,
  whole: false,
  even: false,
  lead: 5,
  tick: () => 0,
  mediabunny: "copies",
  fast: false,
} as const satisfies Partial<Container>;

const row = (facts: Partial<Container> & Pick<Container, "mime">): Container => ({ ...PLAIN, ...facts });

const ISOBMFF = {
  copies: "always",
  seeks: "pictures",
  entries: /./,
  mediabunny: "copies",
  fast: true,
  whole: true,
  demuxers: "mov",
} as const satisfies Partial<Container>;
const MATROSKA = { ...ISOBMFF, whole: false, demuxers: "matroska", clock: 1000 } as const;
const SOUND = { seeks: "sound", fast: true } as const;

/** The containers of sources, by Framewright's names. */
export const CONTAINERS: Readonly<Record<string, Container>> = {
  mp4: row({ ...ISOBMFF, label: "MP4", mime: ["video/mp4", "audio/mp4"] }),
  mov: row({ ...ISOBMFF, label: "QuickTime", mime: ["video/quicktime"] }),
  webm: row({ ...MATROSKA, label: "WebM", mime: ["video/webm", "audio/webm"] }),
  matroska: row({ ...MATROSKA, label: "Matroska", mime: ["video/x-matroska", "audio/x-matroska"] }),
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
  ogg: row({ ...SOUND, label: "Ogg", mime: ["video/ogg", "audio/ogg"], restarts: true }),
  mp3: row({ ...SOUND, label: "MP3", mime: ["audio/mpeg"], demuxers: "mp3,aac" }),
  aac: row({ ...SOUND, label: "AAC", mime: ["audio/aac"], demuxers: "aac,mp3" }),
  wav: row({ label: "WAV", mime: ["audio/wav"], demuxers: "wav,w64", fast: true }),
  flac: row({ label: "FLAC", mime: ["audio/flac"], fast: true }),
  aiff: row({ label: "AIFF", mime: ["audio/aiff"], fast: true }),
  ac3: row({ label: "AC-3", mime: ["audio/ac3"], fast: true }),
  eac3: row({ label: "E-AC-3", mime: ["audio/eac3"], fast: true }),
  amr: row({ label: "AMR", mime: ["audio/amr"] }),
  caf: row({ label: "CAF", mime: ["audio/x-caf"] }),
  gif: row({ label: "GIF", mime: ["image/gif"], demuxers: "gif,gif_pipe", tick: () => 0.01 }),
  jpeg: row({ label: "JPEG", mime: ["image/jpeg"], demuxers: "jpeg_pipe,mjpeg,image2" }),
  jpegls: row({ mime: ["image/jls"], demuxers: "jpegls_pipe" }),
  // The format of an icon file (ICO) is that of its pictures.
  png: row({ label: "PNG", mime: ["image/png"], demuxers: "png_pipe,apng,ico" }),
  webp: row({ label: "WebP", mime: ["image/webp"] }),
  avif: row({ label: "AVIF", mime: ["image/avif"], demuxers: "mov" }),
  heic: row({ label: "HEIC", mime: ["image/heic"], demuxers: "mov" }),
  bmp: row({ label: "BMP", mime: ["image/bmp"], demuxers: "bmp_pipe,ico" }),
  svg: row({ label: "SVG", mime: ["image/svg+xml"] }),
  tiff: row({ label: "TIFF", mime: ["image/tiff"] }),
  targa: row({ label: "TGA", mime: ["image/x-tga"], demuxers: "image2pipe" }),
  pam: row({ label: "PAM", mime: ["image/x-portable-arbitrarymap"], demuxers: "image2pipe" }),
};

const UNKNOWN = row({ mime: ["application/octet-stream"], mediabunny: "none" });

// Only ffmpeg follows an edit list of several parts, from the beginning, and only when it decodes.
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

/** Returns whether a copy into a format would play what the edit list of the source hides. */
export function playsPreroll({ preroll }: { preroll?: number | undefined }, format: string): boolean {
  return preroll !== undefined && format !== "mp4" && format !== "mov";
}

/** Returns the facts of a source's container; for an unknown one, those of a file that cannot be copied. */
export function containerOf({ format, edited, restarted }: ContainedSource): Container {
  const container = Object.hasOwn(CONTAINERS, format) ? (CONTAINERS[format] ?? UNKNOWN) : UNKNOWN;
  if (restarted) return { ...container, ...RESTARTED };
  return edited ? { ...container, ...EDITED } : container;
}

/** Returns whether ffmpeg reads part of a frame at a source's end as if it were whole; no decoder plays it. */
export function endsInFrame({
  format,
  truncated,
}: {
  format: string;
  truncated?: true | undefined;
}): boolean {
  return truncated === true && format === "flac";
}

/** Returns the names of the containers for which a predicate holds. */
export function containersWith(fact: (container: Container) => boolean): ReadonlySet<string> {
  return new Set(Object.keys(CONTAINERS).filter((name) => fact(containerOf({ format: name }))));
}
