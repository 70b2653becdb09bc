import { unreachable } from "./http-request.ts";

/** A body that broke off; another request for the rest may mend it. */
export class BrokenBody extends Error {}

/** What bounds the reading of a body. */
export interface BodyLimits {
  /** Milliseconds to wait for the next bytes. */
  idle_ms: number;
  signal?: AbortSignal | undefined;
  /** Where the body comes from, to name its host in errors. */
  url: string;
}

/** Reads the next bytes of a body; rejects when none come in time, when the connection breaks ({@link BrokenBody}) or when the signal fires. */
export async function readNext(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { idle_ms, signal, url }: BodyLimits,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  signal?.throwIfAborted();
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const late = () => stop(unreachable(url, `sent nothing for ${idle_ms / 1000} s`, true));
  const aborted = () => stop(signal?.reason);
  const timer = setTimeout(late, idle_ms);
  signal?.addEventListener("abort", aborted);
  try {
    return await Promise.race([reader.read(), stopped]);
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown instanceof Error && thrown.name === "MediaError"
      ? thrown
      : new BrokenBody("the connection was lost", { cause: thrown });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  }
}

/** Reads a body that must have exactly `length` bytes; rejects as {@link readNext} does, or with `input_unreachable` for another length. */
export async function readExactly(
  response: Response,
  length: number,
  limits: BodyLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  const reader = response.body?.getReader();
  let at = 0;
  try {
    while (reader) {
      const { done, value } = await readNext(reader, limits);
      if (done) break;
      if (at + value.length > length) throw unreachable(limits.url, "sent more than it declared", true);
      bytes.set(value, at);
      at += value.length;
    }
  } catch (thrown) {
    if (!(thrown instanceof BrokenBody)) throw thrown;
    throw unreachable(limits.url, `broke off after ${at} of ${length} bytes`, true, thrown.cause);
  } finally {
    await reader?.cancel().catch(() => {});
  }
  if (at < length) throw unreachable(limits.url, `sent ${at} of ${length} bytes`, true);
  return bytes;
}
