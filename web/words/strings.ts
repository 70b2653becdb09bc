import type { EncodeKind, Source } from "../../src/index.ts";
import type { ItemState } from "../queue/item.ts";

// British English sets no comma before the last "and".
const LIST = new Intl.ListFormat("en-GB");

const OUTPUTS: Readonly<Partial<Record<EncodeKind, string>>> = {
  animation: "animation",
  storyboard: "storyboard",
  waveform: "waveform",
  adaptive_video: "stream",
};

const further =
  (track: string) =>
  ({ count, languages }: Lost) =>
    `${count} further ${track}${count === 1 ? "" : "s"}${inParentheses(languages)}`;

const inParentheses = (languages: readonly string[]) =>
  languages.length > 0 ? ` (${languages.join(", ")})` : "";

/** Streams of one kind that an output lacks; languages where known. */
interface Lost {
  count: number;
  languages: readonly string[];
}

/** Where and with what a task runs; `encoder` is empty where it needs no mention. */
interface Run {
  place: string;
  encoder: string;
}

const ran =
  (verb: string) =>
  ({ place, encoder }: Run) =>
    `${verb} ${place}${encoder && ` ${encoder}`}.`;

/** The words for files, outputs, places, states and quantities. */
export const strings = {
  output: ({ format, kind }: { format: string; kind: EncodeKind }) =>
    OUTPUTS[kind] ? `${format} ${OUTPUTS[kind]}` : format,
  source: ({ format, kind }: { format: string; kind: Source["kind"] | "animation" }) =>
    `${format} ${kind === "adaptive_video" ? "stream" : kind}`,
  codecs: ({ names }: { names: readonly string[] }) => LIST.format(names),
  unknownCodec: "unknown codec",
  framesPerSecond: ({ fps }: { fps: number }) => `${fps} fps`,
  audio: ({ channels, rate }: { channels: number; rate: number }) =>
    `${["mono", "stereo"][channels - 1] ?? `${channels} channels`}, ${rate} kHz`,
  frameAt: ({ time }: { time: string }) => `frame at ${time}`,
  fromTo: ({ from, to }: { from: string; to: string }) => `${from} to ${to}`,
  from: ({ time }: { time: string }) => `from ${time}`,
  copied: "copied",
  atMost: ({ size }: { size: string }) => `at most ${size}`,
  quality: ({ quality }: { quality: string }) => `${quality} quality`,
  kilobits: ({ rate }: { rate: number }) => `${rate} kbit/s`,
  megabits: ({ rate }: { rate: number }) => `${rate} Mbit/s`,
  leavesOut: ({ parts }: { parts: readonly string[] }) => `Leaves out: ${parts.join(", ")}.`,
  furtherVideo: further("video track"),
  furtherAudio: further("sound track"),
  surround: "surround sound (it becomes stereo)",
  alpha: "transparency",
  bitDepth: "bits of its samples above 24",
  subtitles: ({ languages }: Lost) => `subtitles${inParentheses(languages)}`,
  chapters: "chapters",
  data: "attached data",
  cover: "the cover",
  furtherCovers: "further covers",
  tags: "tags the format does not support",
  privateTags: "private tags such as location and device",

  onDevice: "on this device",
  onEdge: ({ host }: { host: string | null }) => `on the edge${host === null ? "" : ` (${host})`}`,
  willRunHere: ({ place }: { place: string }) => `Will run ${place}; nothing is sent anywhere.`,
  addressIsSent: ({ place }: { place: string }) => `Will run ${place}; its address is sent there.`,
  fileIsSent: ({ place }: { place: string }) => `Will run ${place}; the file is sent there.`,
  made: ran("Made"),
  runs: ran("Runs"),
  ran: ran("Ran"),
  encoders: {
    copy: "",
    canvas: "with the browser's own image encoder",
    avif: "with the AVIF encoder",
    wasm: "with FFmpeg in WebAssembly",
    fast: "with Framewright's build of FFmpeg in WebAssembly",
    "wasm-mt": "with FFmpeg in WebAssembly, with threads",
    webcodecs: "with the browser's own encoder (WebCodecs)",
    light: "with FFmpeg in a Worker",
    native: "with native FFmpeg in a container",
  } as Readonly<Record<string, string>>,
  otherEncoder: ({ encoder }: { encoder: string }) => `with ${encoder}`,

  states: {
    reading: "Reading…",
    unusable: "Can't be used",
    ready: "Ready",
    sending: "Starting…",
    queued: "Waiting for its turn",
    processing: "Converting",
    succeeded: "Done",
    failed: "Failed",
    cancelled: "Cancelled",
    waiting: "Waiting for its file",
  } satisfies Record<ItemState, string>,
  sending: "Sending",
  waitingForEncoder: "Waiting for a free encoder",

  almostDone: "almost done",
  secondsLeft: ({ seconds }: { seconds: number }) => `${seconds} s left`,
  minutesLeft: ({ minutes }: { minutes: number }) => `${minutes} min left`,
  hoursLeft: ({ hours, minutes }: { hours: number; minutes: number }) => `${hours} h ${minutes} min left`,
  sameSize: "as large as before",
  larger: "larger",
  percentSmaller: ({ percent }: { percent: number }) => `${percent} % smaller`,
  percentLarger: ({ percent }: { percent: number }) => `${percent} % larger`,
  timesAsLarge: ({ factor }: { factor: number }) => `${factor} times as large`,
  muchSmaller: "more than 99 % smaller",
  slightlySmaller: "less than 1 % smaller",
  slightlyLarger: "less than 1 % larger",
};
