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

/** Says where an item is worked on: in the future before it is started, then with what, and the main reason for that, as soon as it is known. */
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
  const [why] = reasonsOf(choice);
  return `${said} ${encoderWords(choice)}${why ? `, as ${why}` : ""}.`;
}

/** Says with what an output was made, and all that led to it; null where that is not known. */
export function describeEncoder(output: Pick<Source, "encoder" | "reason">): string | null {
  if (!output.encoder) return null;
  const reasons = reasonsOf(output).join("; ");
  return `${encoderWords(output)}${reasons && `, as ${reasons}`}`;
}

function encoderWords({ encoder = "" }: Pick<Source, "encoder">): string {
  return ENCODERS[encoder] ?? `with ${encoder}`;
}

// That an encoder of pictures makes no sound tells a visitor nothing.
function reasonsOf({ reason = "" }: Pick<Source, "reason">): string[] {
  return reason
    .split("; ")
    .filter((part) => part !== "" && !/^not [\w-]+: it only /.test(part))
    .map((part) => part.replace(/^not copy: /, "it could not just be copied, as "));
}

function hostOf(service: string): string {
  return URL.parse(service)?.host ?? service;
}
