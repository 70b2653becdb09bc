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

const runSentence =
  (verb: string) =>
  ({ place, encoder }: Run) =>
    `${verb} ${place}${encoder && ` ${encoder}`}.`;

export const output = ({ format, kind }: { format: string; kind: EncodeKind }) =>
  OUTPUTS[kind] ? `${format} ${OUTPUTS[kind]}` : format;
export const source = ({ format, kind }: { format: string; kind: Source["kind"] | "animation" }) =>
  `${format} ${kind === "adaptive_video" ? "stream" : kind}`;
export const codecs = ({ names }: { names: readonly string[] }) => LIST.format(names);
export const unknownCodec = "unknown codec";
export const framesPerSecond = ({ fps }: { fps: number }) => `${fps} fps`;
export const channels = ({ channels: count }: { channels: number }) =>
  ["mono", "stereo"][count - 1] ?? `${count} channels`;
export const audio = ({ channels: count, rate }: { channels: number; rate: number }) =>
  `${channels({ channels: count })}, ${rate} kHz`;
export const frameAt = ({ time }: { time: string }) => `frame at ${time}`;
export const fromTo = ({ from, to }: { from: string; to: string }) => `${from} to ${to}`;
export const from = ({ time }: { time: string }) => `from ${time}`;
export const copied = "copied";
export const atMost = ({ size }: { size: string }) => `at most ${size}`;
export const quality = ({ quality }: { quality: string }) => `${quality} quality`;
export const kilobits = ({ rate }: { rate: number }) => `${rate} kbit/s`;
export const megabits = ({ rate }: { rate: number }) => `${rate} Mbit/s`;
export const leavesOut = ({ parts }: { parts: readonly string[] }) => `Leaves out: ${parts.join(", ")}.`;
export const smallest = "Not smaller: you keep the original";
export const originalKept = "The result was larger, so the original is kept.";
export const cutOff = "the end, as the file is cut off";
export const furtherVideo = further("video track");
export const furtherAudio = further("sound track");
export const surround = "surround sound (it becomes stereo)";
export const alpha = "transparency";
export const bitDepth = "part of the bit depth";
export const hdr = "high dynamic range";
export const colorProfile = "its color profile";
export const gainMap = "the gain map of its HDR";
export const pictures = "frames beyond 60 a second";
export const subtitles = ({ languages }: Lost) => `subtitles${inParentheses(languages)}`;
export const chapters = "chapters";
export const data = "attached data";
export const cover = "the cover";
export const furtherCovers = "further covers";
export const tags = "tags the format does not support";
export const privateTags = "private tags such as location and device";

export const onDevice = "on this device";
export const onEdge = ({ host }: { host: string | null }) =>
  `on the edge${host === null ? "" : ` (${host})`}`;
export const willRunHere = ({ place }: { place: string }) => `Will run ${place}; nothing is sent anywhere.`;
export const addressIsSent = ({ place }: { place: string }) =>
  `Will run ${place}; its address is sent there.`;
export const fileIsSent = ({ place }: { place: string }) => `Will run ${place}; the file is sent there.`;
export const made = runSentence("Made");
export const runs = runSentence("Runs");
export const ran = runSentence("Ran");
export const encoders = {
  copy: "",
  canvas: "with the browser's own image encoder",
  avif: "with the AVIF encoder",
  wasm: "with FFmpeg in WebAssembly",
  fast: "with Framewright's build of FFmpeg in WebAssembly",
  "wasm-mt": "with FFmpeg in WebAssembly, with threads",
  webcodecs: "with the browser's own encoder (WebCodecs)",
  light: "with FFmpeg in a Worker",
  native: "with native FFmpeg in a container",
} as Readonly<Record<string, string>>;
export const otherEncoder = ({ encoder }: { encoder: string }) => `with ${encoder}`;

export const states = {
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
} satisfies Record<ItemState, string>;
export const sending = "Sending";
export const waitingForEncoder = "Waiting for a free encoder";

export const almostDone = "almost done";
export const secondsLeft = ({ seconds }: { seconds: number }) => `${seconds} s left`;
export const minutesLeft = ({ minutes }: { minutes: number }) => `${minutes} min left`;
export const hoursLeft = ({ hours, minutes }: { hours: number; minutes: number }) =>
  `${hours} h ${minutes} min left`;
export const seconds = ({ seconds }: { seconds: number }) => `${seconds} s`;
export const minutes = ({ minutes }: { minutes: number }) => `${minutes} min`;
export const hours = ({ hours, minutes }: { hours: number; minutes: number }) => `${hours} h ${minutes} min`;
export const sameSize = "as large as before";
export const larger = "larger";
export const percentSmaller = ({ percent }: { percent: number }) => `${percent} % smaller`;
export const percentLarger = ({ percent }: { percent: number }) => `${percent} % larger`;
export const timesAsLarge = ({ factor }: { factor: number }) => `${factor} times as large`;
export const muchSmaller = "more than 99 % smaller";
export const slightlySmaller = "less than 1 % smaller";
export const slightlyLarger = "less than 1 % larger";
