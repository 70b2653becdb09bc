import type { Source } from "../../src/index.ts";
import type { AnyOptions } from "../options/choices.ts";
import type { Preset, PresetId } from "../options/presets.ts";
import type { FirstIconName } from "../ui/first-signs.ts";

/** The output that a job chooses for a file: a preset, or a kind with its options. Sizes are ceilings. */
export type Choice =
  | PresetId
  | (Pick<Preset, "kind" | "options" | "max" | "target_size"> & {
      /** Options for sources of a format, beside the common ones. */
      readonly formats?: Readonly<Record<string, AnyOptions>>;
      /** A longer source is cut to its first seconds. */
      readonly seconds?: number;
    });

/** The fields that come first among the options of a job. */
export type Part = "times" | "size" | "subtitles" | "concat";

/** A task that visitors come for, with an address of its own. */
interface JobRow {
  readonly path: `/${string}`;
  /** The words of its link, in two lines. */
  readonly name: string;
  readonly note: string;
  /** The title of its document, and the heading of its page, which its card shows too. */
  readonly title: string;
  readonly heading: string;
  /** The line under the heading, which search engines and shared links show too. */
  readonly description: string;
  readonly icon: FirstIconName;
  /** The choice for each kind of source; `animated` for an animated picture. Other files keep the default options. */
  readonly sets: Readonly<Partial<Record<Source["kind"] | "animated", Choice>>>;
  readonly part?: Part;
}

const within = (bytes: number) =>
  ({
    video: { kind: "video", options: { format: "mp4", enlarge: false }, target_size: bytes },
    audio: { kind: "audio", options: { format: "mp3" }, target_size: bytes },
  }) as const;

/** The jobs in the order of their links. */
export const JOBS = [
  {
    path: "/smaller",
    name: "Make it smaller",
    note: "Same look, less weight",
    title: "Make videos, photos and sound smaller",
    heading: "Make videos, photos and sound smaller.",
    description:
      "Same look, less weight. If it can't get smaller, you keep the original. Nothing is uploaded.",
    icon: "shrink",
    sets: {
      video: {
        kind: "video",
        options: { format: "mp4", quality: "medium", enlarge: false },
        target_size: null,
      },
      audio: "podcast",
      image: {
        kind: "image",
        options: { quality: "auto", enlarge: false },
        formats: {
          png: { format: "webp" },
          gif: { format: "webp" },
          svg: { format: "webp" },
          tiff: { format: "webp" },
        },
        target_size: null,
      },
    },
  },
  {
    path: "/discord",
    name: "Discord",
    note: "10 MB",
    title: "Make a video fit Discord's 10 MB",
    heading: "Make a video fit Discord's 10 MB.",
    description:
      "Drop a video of any size and get an MP4 below 10 MB, as good as that allows. Nothing is uploaded.",
    icon: "limit",
    sets: within(10_000_000),
  },
  {
    path: "/whatsapp",
    name: "WhatsApp",
    note: "16 MB",
    title: "Make a video fit WhatsApp's 16 MB",
    heading: "Make a video fit WhatsApp's 16 MB.",
    description:
      "Drop a video of any size and get an MP4 below 16 MB that plays on every phone. Nothing is uploaded.",
    icon: "limit",
    sets: within(16_000_000),
  },
  {
    path: "/mail",
    name: "Mail",
    note: "20 MB",
    title: "Make a video small enough to mail",
    heading: "Make a video small enough to mail.",
    description: "Drop a video and get an MP4 below 20 MB, at most 720p. Nothing is uploaded.",
    icon: "limit",
    sets: { ...within(20_000_000), video: "mail" },
  },
  {
    path: "/trim",
    name: "Trim",
    note: "Keep only the good parts",
    title: "Trim video and sound on your own device",
    heading: "Trim video and sound.",
    description:
      "Set the start and the end on the picture or the waveform, and keep the good part. Nothing is uploaded.",
    icon: "cut",
    sets: {},
    part: "times",
  },
  {
    path: "/join",
    name: "Join",
    note: "Several clips, one video",
    title: "Join several clips into one video",
    heading: "Join several clips into one video.",
    description: "Add the first clip, then the web addresses of the others. Nothing is uploaded.",
    icon: "join",
    sets: {},
    part: "concat",
  },
  {
    path: "/gif",
    name: "Make a GIF",
    note: "A short loop, small",
    title: "Make a GIF from a video",
    heading: "Make a GIF from a video.",
    description: "Drop a video to loop its first 3 seconds, or any other part. Nothing is uploaded.",
    icon: "loop",
    sets: {
      video: {
        kind: "animation",
        options: { format: "gif", enlarge: false },
        max: { long: 480 },
        target_size: null,
        seconds: 3,
      },
      animated: { kind: "animation", options: { format: "gif", enlarge: false }, target_size: null },
    },
  },
  {
    path: "/sound",
    name: "Get the sound",
    note: "MP3 from any video",
    title: "Get the sound of a video as MP3",
    heading: "Get the sound of a video as MP3.",
    description: "Drop a video and save its sound as an MP3 that plays everywhere. Nothing is uploaded.",
    icon: "audio",
    sets: { video: "podcast", audio: "podcast", adaptive_video: "podcast" },
  },
  {
    path: "/photos",
    name: "Convert photos",
    note: "HEIC, PNG → JPEG, WebP",
    title: "Convert photos: HEIC to JPEG, PNG to WebP",
    heading: "Convert photos, one or hundreds.",
    description:
      "HEIC becomes JPEG. PNG and JPEG become WebP. You can also choose AVIF. Nothing is uploaded.",
    icon: "image",
    sets: {
      image: {
        kind: "image",
        options: { format: "jpeg", quality: "high", enlarge: false },
        formats: {
          jpeg: { format: "webp", quality: "medium" },
          png: { format: "webp", quality: "medium" },
          gif: { format: "webp", quality: "medium" },
          svg: { format: "png", quality: undefined },
        },
        target_size: null,
      },
    },
  },
  {
    path: "/crop",
    name: "Resize or crop",
    note: "9:16, square, any size",
    title: "Resize or crop videos and photos",
    heading: "Resize or crop videos and photos.",
    description: "Crop a video or photo to 9:16, a square or any shape, in any size. Nothing is uploaded.",
    icon: "crop",
    sets: {},
    part: "size",
  },
  {
    path: "/subtitles",
    name: "Subtitles",
    note: "Drawn in, or as a track",
    title: "Add subtitles to a video",
    heading: "Add subtitles to a video.",
    description:
      "Draw subtitles into the picture, or add a track that viewers can turn on. Nothing is uploaded.",
    icon: "text",
    sets: {},
    part: "subtitles",
  },
  {
    path: "/stream",
    name: "Stream for a website",
    note: "HLS, with the code",
    title: "Make an HLS stream for your website",
    heading: "Make an HLS stream for your website.",
    description:
      "Drop a video and get a stream that starts at once and adapts to each connection. Nothing is uploaded.",
    icon: "stream",
    sets: { video: "hls", audio: "hls" },
  },
  {
    path: "/convert",
    name: "Change the format",
    note: "Any to any, in bulk",
    title: "Convert video, sound and photos to another format",
    heading: "Convert any format to any other.",
    description: "MOV to MP4, WAV to MP3, AVIF to JPEG and more, one file or hundreds. Nothing is uploaded.",
    icon: "swap",
    sets: {},
  },
] as const satisfies readonly JobRow[];

/** The path of a job's address, such as `/gif`. */
export type JobPath = (typeof JOBS)[number]["path"];
/** A row of {@link JOBS}. */
export type Job = JobRow & { readonly path: JobPath };

/** The jobs that share a card, because they differ only in their limit. */
export const LIMITS: ReadonlySet<string> = new Set(["/discord", "/whatsapp", "/mail"] satisfies JobPath[]);

/** Returns the job of an address, with or without a slash at its end; null for others. */
export function jobAt(pathname: string): Job | null {
  const path = pathname.replace(/\/$/, "");
  return JOBS.find((job) => job.path === path) ?? null;
}
