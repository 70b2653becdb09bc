import { limitTime } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";

/** A native encoder and how to reach it. */
export interface NativeInstance {
  /** Short name, used in messages. */
  name: string;
  /** Sends a request; `path` begins with a slash, such as `/jobs`. Rejects when the encoder cannot be reached. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** A response read to its end. */
export interface NativeAnswer {
  status: number;
  text: string;
}

export interface CallLimits {
  /** Milliseconds until the whole answer must have arrived. */
  ms: number;
  /** Ends the call at once. */
  signal?: AbortSignal | undefined;
  /** Bytes that the answer may have. Default 16 MiB. */
  bytes?: number;
}

// The playlists and file list of a ladder of many hours take a few megabytes.
const MOST_BYTES = 16 * MIB;

/** Sends a request and reads its answer as text, as {@link callForBytes} does. */
export async function callNative(
  instance: NativeInstance,
  path: string,
  init: RequestInit,
  limits: CallLimits,
): Promise<NativeAnswer> {
  const { status, bytes } = await callForBytes(instance, path, init, limits);
  return { status, text: new TextDecoder().decode(bytes) };
}

/**
 * Sends a request and reads its answer. Rejects with the signal's reason when that aborts, otherwise with an Error that
 * names the problem: no connection, no complete answer in time, or more than `bytes`.
 */
export async function callForBytes(
  instance: NativeInstance,
  path: string,
  init: RequestInit,
  { ms, signal, bytes = MOST_BYTES }: CallLimits,
): Promise<{ status: number; bytes: Uint8Array<ArrayBuffer> }> {
  signal?.throwIfAborted();
  const limit = limitTime(ms, { signal, reason: new Error(`did not answer within ${ms / 1000} s`) });
  const ended = limit.signal;
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => {});
  const end = () => reject(ended.reason);
  ended.addEventListener("abort", end, { once: true });
  try {
    const sent = instance.fetch(path, { ...init, redirect: "manual", signal: ended });
    // A response that arrives too late must release its connection.
    sent.then(
      (response) => {
        if (ended.aborted) response.body?.cancel().catch(() => {});
      },
      () => {},
    );
    const response = await Promise.race([sent, over]);
    return { status: response.status, bytes: await readBytes(response, bytes, over) };
  } finally {
    limit.clear();
    ended.removeEventListener("abort", end);
  }
}

async function readBytes(
  response: Response,
  most: number,
  over: Promise<never>,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array();
  const reader = response.body.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), over]);
      if (done) break;
      size += value.length;
      if (size > most) throw new Error("gave an endless answer");
      pieces.push(value);
    }
  } catch (thrown) {
    reader.cancel().catch(() => {});
    throw thrown;
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
