import type { Source } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";

const ENCODERS: Readonly<Record<string, string>> = {
  copy: "by copying its streams as they are",
  canvas: "with the browser's own image encoder",
  avif: "with the AVIF encoder",
  wasm: "with FFmpeg in WebAssembly",
  "wasm-mt": "with FFmpeg in WebAssembly, with threads",
  webcodecs: "with the browser's own encoder (WebCodecs)",
  light: "with FFmpeg in a Worker",
  native: "with native FFmpeg in a container",
};

/** Says where an item is worked on: in the future before it is started, then with what, and why with that, as soon as it is known. */
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
  return choice ? `${said} ${describeEncoder(choice)}` : `${said}.`;
}

function describeEncoder({ encoder = "", reason }: Pick<Source, "encoder" | "reason">): string {
  const name = ENCODERS[encoder] ?? `with ${encoder}`;
  return reason ? `${name}, as ${worthSaying(reason)}.` : `${name}.`;
}

// That an encoder of pictures makes no sound tells a visitor nothing.
function worthSaying(reason: string): string {
  const parts = reason.split("; ").filter((part) => !/^not [\w-]+: it only /.test(part));
  return parts.map((part) => part.replace(/^not copy: /, "it could not just be copied, as ")).join("; ");
}

function hostOf(service: string): string {
  return URL.parse(service)?.host ?? service;
}
