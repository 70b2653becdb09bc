import type { Source } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";

const ENCODERS: Readonly<Record<string, string>> = {
  copy: "",
  canvas: "with the browser's own image encoder",
  avif: "with the AVIF encoder",
  wasm: "with FFmpeg in WebAssembly",
  fast: "with Framewright's build of FFmpeg in WebAssembly",
  "wasm-mt": "with FFmpeg in WebAssembly, with threads",
  webcodecs: "with the browser's own encoder (WebCodecs)",
  light: "with FFmpeg in a Worker",
  native: "with native FFmpeg in a container",
};

/**
 * Describes where an item is processed: in the future tense before it starts, then with the encoder and the main reason for
 * it, once known.
 */
export function describePlace({ wishes, task, service, input, pace }: Item): string {
  const place =
    wishes.place === "device" ? "on this device" : `on the edge${service ? ` (${hostOf(service)})` : ""}`;
  if (!task) {
    const given = typeof input === "string" ? "its address" : "the file";
    return `Will run ${place}; ${wishes.place === "device" ? "nothing is sent anywhere" : `${given} is sent there`}.`;
  }
  const made = task.steps.find(({ output }) => output?.encoder)?.output;
  const runs = task.status === "queued" || task.status === "processing";
  const said = `${made ? "Made" : runs ? "Runs" : "Ran"} ${place}`;
  const choice = made ?? pace?.choice;
  if (!choice) return `${said}.`;
  const words = encoderWords(choice);
  return `${said}${words && ` ${words}`}.${choice.reason ? ` ${choice.reason}` : ""}`;
}

/** Describes which encoder made an output and why; null when unknown. */
export function describeEncoder(output: Pick<Source, "encoder" | "reason">): string | null {
  const { encoder, reason = "" } = output;
  if (!encoder) return null;
  const words = encoderWords(output);
  return [words && `${words}.`, reason].filter(Boolean).join(" ");
}

function encoderWords({ encoder = "" }: Pick<Source, "encoder">): string {
  return ENCODERS[encoder] ?? `with ${encoder}`;
}

function hostOf(service: string): string {
  return URL.parse(service)?.host ?? service;
}
