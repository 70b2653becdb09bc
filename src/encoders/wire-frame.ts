import type { ErrorKind } from "../media/errors.ts";
import * as errors from "./errors.ts";

/** MIME type of a message written by {@link writeFrame}. */
export const FRAME_MIME = "application/vnd.framewright.frame";

const MAX_HEADER = 4_194_304;

/** Bytes that follow a frame's JSON; a function is called only when its turn comes. */
export type FramePart = Uint8Array | (() => Promise<Uint8Array>);

/**
 * Writes a frame as a stream: the length of the JSON (32 bits, little-endian), the JSON, then the parts. Calls functions among the
 * parts one at a time as the reader consumes them, so that only one part is in memory.
 */
export function writeFrame(json: unknown, parts: Iterable<FramePart> = []): ReadableStream<Uint8Array> {
  const rest = parts[Symbol.iterator]();
  let head: Uint8Array | null = frameHead(json);
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    let bytes = head;
    head = null;
    // An empty chunk would not satisfy the pull.
    while (!bytes?.length) {
      const next = rest.next();
      if (next.done) return controller.close();
      bytes = typeof next.value === "function" ? await next.value() : next.value;
    }
    controller.enqueue(bytes);
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** Returns the start of a frame: the length and the JSON. */
export function frameHead(json: unknown): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const head = new Uint8Array(4 + text.length);
  new DataView(head.buffer).setUint32(0, text.length, true);
  head.set(text, 4);
  return head;
}

export interface FrameReader {
  /** Reads the next JSON; null at the end of the stream. */
  json(): Promise<unknown>;
  bytes(length: number): Promise<Uint8Array>;
  /** Reads to the end and discards the rest. */
  drain(): Promise<void>;
}

/**
 * Creates a reader of the frames in a stream. It rejects with an error of the kind `broken` when the stream is malformed or
 * truncated.
 */
export function readFrames(
  stream: ReadableStream<Uint8Array>,
  broken: ErrorKind = "request_invalid",
): FrameReader {
  const reader = stream.getReader();
  let rest: Uint8Array = new Uint8Array();

  async function read(length: number, mayEnd = false): Promise<Uint8Array | null> {
    if (rest.length >= length) {
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      return bytes;
    }
    const bytes = new Uint8Array(length);
    let at = 0;
    while (at < length) {
      if (rest.length === 0) {
        const { value, done } = await reader.read();
        if (done && mayEnd && at === 0) return null;
        if (done) throw errors.frameCutOff({ kind: broken });
        rest = value;
      }
      const part = rest.subarray(0, length - at);
      bytes.set(part, at);
      at += part.length;
      rest = rest.subarray(part.length);
    }
    return bytes;
  }

  return {
    async json() {
      const head = await read(4, true);
      if (!head) return null;
      const length = new DataView(head.buffer, head.byteOffset, 4).getUint32(0, true);
      if (length > MAX_HEADER) throw errors.notFrame({ kind: broken });
      const text = new TextDecoder().decode((await read(length)) ?? undefined);
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw errors.notFrame({ kind: broken });
      }
    },
    bytes: async (length) => (await read(length)) ?? new Uint8Array(),
    async drain() {
      while (!(await reader.read()).done);
    },
  };
}
