import type { Encoder } from "../../encoders/encoder.ts";
import { createBlobReader } from "../../storage/readers.ts";
import { type Port, serveOver } from "../rpc.ts";
import type { IsolatedApi, IsolatedEvent } from "./isolated-encoder.ts";

/** Serves an encoder to the media worker; call it once, while the worker's module loads. */
export function serveIsolated(encoder: Pick<Encoder, "encode">): void {
  let stream: ReadableStreamDefaultReader<Uint8Array> | null = null;
  const tell = serveOver<IsolatedApi, IsolatedEvent>(globalThis as unknown as Port, {
    async encode(job, file) {
      const { signal } = new AbortController();
      const encoded = await encoder.encode({
        ...job,
        input: createBlobReader(file),
        signal,
        onProgress: tell,
      });
      if (Array.isArray(encoded)) return encoded;
      if ("written" in encoded) return [];
      stream = encoded.getReader();
      return null;
    },
    async next() {
      const { done = true, value } = (await stream?.read()) ?? {};
      return done || !value ? null : value;
    },
  });
}
