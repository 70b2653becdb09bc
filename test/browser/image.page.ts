import type { EncodedFile } from "../../src/encoders/encoder.ts";
import { createAvifEncoder } from "../../src/encoders/images/avif.ts";
import { createCanvasEncoder } from "../../src/encoders/images/canvas.ts";
import type { Plan } from "../../src/media/index.ts";
import type { RefusalReason } from "../../src/media/refusal.ts";
import type { Source } from "../../src/media/source.ts";

/** A request to the worker. */
export interface ImageWish {
  plan: Plan;
  source: Source;
  /** URL of the source. */
  input: string;
  /** URL of the AVIF encoder's wasm; null for the canvas encoder. */
  wasm: string | null;
  /** Aborts the encode before it begins, or as soon as it opens its input. */
  abort?: "before" | "reading";
}

/** The worker's answer. */
export interface ImageAnswer {
  refusal: RefusalReason | null;
  file: { name: string; mime: string; base64: string } | null;
  /** How many pictures reached the wasm of the AVIF encoder. */
  encodes: number;
  /** Milliseconds. */
  ms: number;
  error: { kind: string; message: string } | null;
}

addEventListener("message", async ({ data }: MessageEvent<ImageWish>) => {
  const { plan, source } = data;
  const answer: ImageAnswer = { refusal: null, file: null, encodes: 0, ms: 0, error: null };
  const [chunk] = plan.chunks;
  try {
    const blob = await (await fetch(data.input)).blob();
    const stop = new AbortController();
    const abort = () => stop.abort(new Error("the test has enough"));
    const input = {
      get blob() {
        if (data.abort === "reading") abort();
        return blob;
      },
      size: blob.size,
      read: async ({ start, end }: { start: number; end: number }) =>
        new Uint8Array(await blob.slice(start, end).arrayBuffer()),
    };
    const encoder = data.wasm
      ? createAvifEncoder({ wasm: new URL(data.wasm, location.href), guard: () => answer.encodes++ })
      : createCanvasEncoder();
    await encoder.prepare(plan, source);
    answer.refusal = encoder.refuse(plan, source);
    if (data.abort === "before") abort();
    const from = performance.now();
    if (answer.refusal === null && chunk) {
      const [file] = (await encoder.encode({
        plan,
        chunk,
        source,
        input,
        signal: stop.signal,
      })) as EncodedFile[];
      if (!file) throw new Error("Nothing came out.");
      const base64 = (file.bytes as Uint8Array & { toBase64(): string }).toBase64();
      answer.file = { name: file.name, mime: file.mime, base64 };
    }
    answer.ms = performance.now() - from;
  } catch (thrown) {
    const { kind, message } = thrown as Error & { kind?: string };
    answer.error = { kind: kind ?? "", message };
  }
  postMessage(answer);
});
