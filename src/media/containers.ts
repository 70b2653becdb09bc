/** Facts of a container as a source, where they differ from those of {@link PLAIN}. */
export interface Container {
  /** Its name for people; the upper-case one when absent. */
  label?: string;
  /** MIME types with pictures, and of sound alone. */
  mime: readonly [pictures: string, sound?: string];
  /** ffmpeg's demuxers that may open it: what it takes a file for may hang on the first bytes alone, where formats are alike. */
  demuxers?: string;
  /** Whether packets carry presentation times that another container takes over: unasked, or only where a copy is asked for. */
  copies: "always" | "asked" | "never";
  /** Whether sound can be taken over; AVI's packets have no times at all. */
  copies_sound: boolean;
  /** What ffmpeg can start at: any keyframe by its presentation time, a packet of sound, or the beginning. */
  seeks: "pictures" | "sound" | "beginning";
  /** The codecs whose entry points can be looked up. */
  entries: RegExp | null;
  /** Whether ffmpeg counts its time from the first packet of the streams in use, and seeks by decoding time. */
  transport: boolean;
  /** Whether its times may restart midway (AVFMT_TS_DISCONT). */
  restarts: boolean;
  /** Whether its pictures are evenly spaced, so that the visible one began less than a frame ago. */
  even: boolean;
  /** Seconds to decode before a time where no entry point can be looked up. */
  lead: number;
  /** Seconds of a tick of its clock, to which ffmpeg rounds a seek, by the seconds of a frame. */
  tick(frame: number): number;
  /** What mediabunny (1.61) does with it: takes packets over as they are, decodes, or neither. */
  mediabunny: "copies" | "reads" | "none";
  /** Whether the fast core has its demuxer (core/recipe.ts). */
  fast: boolean;
}

const PLAIN = {
  ...{ copies: "never", copies_sound: true, seeks: "beginning", entries: null },
  ...{ transport: false, restarts: false, even: false, lead: 5, tick: () => 0 },
  ...{ mediabunny: "copies", fast: false },
} as const satisfies Partial<Container>;

const row = (facts: Partial<Container> & Pick<Container, "mime">): Container => ({ ...PLAIN, ...facts });

const ISOBMFF = {
  ...{ copies: "always", seeks: "pictures", entries: /./, mediabunny: "copies", fast: true, demuxers: "mov" },
} as const satisfies Partial<Container>;
const MATROSKA = { ...ISOBMFF, demuxers: "matroska" } as const;
const SOUND = { seeks: "sound", fast: true } as const;

/** The containers of sources, by Framewright's names. */
export const CONTAINERS: Readonly<Record<string, Container>> = {
  mp4: row({ ...ISOBMFF, label: "MP4", mime: ["video/mp4", "audio/mp4"] }),
  mov: row({ ...ISOBMFF, label: "QuickTime", mime: ["video/quicktime"] }),
  webm: row({ ...MATROSKA, label: "WebM", mime: ["video/webm", "audio/webm"] }),
  matroska: row({ ...MATROSKA, label: "Matroska", mime: ["video/x-matroska", "audio/x-matroska"] }),
  flv: row({ label: "Flash Video", mime: ["video/x-flv"], copies: "always", mediabunny: "none", fast: true }),
  // Times jump and wrap, after 26 hours, and pictures may come before the first keyframe. mediabunny takes all three as they are, and its
  // muxers cannot write them; ffmpeg mends them. ffmpeg seeks by decoding time, which precedes the presentation time.
  mpegts: row({
    ...{
      label: "MPEG-TS",
      mime: ["video/mp2t"],
      demuxers: "mpegts,mpeg",
      copies: "asked",
      entries: /^h26[45]$/,
    },
    ...{ transport: true, restarts: true, even: true, mediabunny: "reads", fast: true },
  }),
  mpeg: row({
    ...{ label: "MPEG-PS", mime: ["video/mpeg"], demuxers: "mpeg,mpegts,mpegvideo" },
    ...{ transport: true, restarts: true, even: true, mediabunny: "none", fast: true },
  }),
  // It has no presentation times, and ffmpeg guesses different ones after a seek: it is read from the beginning, by whole frames.
  avi: row({
    ...{
      label: "AVI",
      mime: ["video/x-msvideo"],
      copies_sound: false,
      even: true,
      lead: Number.POSITIVE_INFINITY,
    },
    ...{ tick: (frame: number) => frame, mediabunny: "none", fast: true },
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
  png: row({ label: "PNG", mime: ["image/png"], demuxers: "png_pipe,apng" }),
  webp: row({ label: "WebP", mime: ["image/webp"] }),
  avif: row({ label: "AVIF", mime: ["image/avif"], demuxers: "mov" }),
  heic: row({ label: "HEIC", mime: ["image/heic"], demuxers: "mov" }),
  bmp: row({ label: "BMP", mime: ["image/bmp"] }),
  svg: row({ label: "SVG", mime: ["image/svg+xml"] }),
  tiff: row({ label: "TIFF", mime: ["image/tiff"] }),
};

const UNKNOWN = row({ mime: ["application/octet-stream"], mediabunny: "none" });

/** Returns the facts of a source's container; those of a plain one for any other name. */
export function containerOf({ format }: { format: string }): Container {
  return Object.hasOwn(CONTAINERS, format) ? (CONTAINERS[format] ?? UNKNOWN) : UNKNOWN;
}

/** Returns the names of the containers that a fact is true of. */
export function containersWith(fact: (container: Container) => boolean): ReadonlySet<string> {
  return new Set(Object.keys(CONTAINERS).filter((name) => fact(containerOf({ format: name }))));
}
