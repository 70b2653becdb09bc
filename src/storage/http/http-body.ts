import { BrokenBody, Silence } from "./broken-body.ts";
import { createByteSource } from "./byte-source.ts";
import { unreachable } from "./http-request.ts";

export interface BodyLimits {
  /** Milliseconds to wait for the next bytes. */
  idleMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits for the next bytes of a body. Rejects with {@link Silence} when none arrive in time, with {@link BrokenBody} when
 * the connection breaks, and otherwise with the signal's reason.
 */
export async function inTime<T>(next: Promise<T>, { idleMs, signal }: BodyLimits): Promise<T> {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const aborted = () => stop(signal?.reason);
  const timer = setTimeout(() => stop(new Silence(`nothing came for ${idleMs / 1000} s`)), idleMs);
  signal?.addEventListener("abort", aborted);
  try {
    return await Promise.race([next, stopped]);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (thrown instanceof BrokenBody) throw thrown;
    throw new BrokenBody("the connection was lost", { cause: thrown });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  }
}

/** Reads a body of exactly `length` bytes; rejects with `input_unreachable` when it has another length or breaks off. */
export async function readExactly(
  response: Response,
  length: number,
  limits: BodyLimits & { url: string },
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(length);
  const source = response.body ? createByteSource(response.body) : null;
  let at = 0;
  try {
    // Requests one byte more at the end, to detect a longer body.
    while (source) {
      const view = at < length ? bytes.subarray(at) : new Uint8Array(1);
      const filled = await inTime(source.read(view), limits);
      if (!filled) break;
      at += filled.length;
      if (at > length) throw unreachable(limits.url, "sent more than it declared", true);
      // The memory may have moved to another ArrayBuffer.
      bytes = new Uint8Array(filled.buffer);
    }
  } catch (thrown) {
    if (!(thrown instanceof BrokenBody)) throw thrown;
    throw unreachable(
      limits.url,
      `broke off after ${at} of ${length} bytes: ${thrown.message}`,
      true,
      thrown,
    );
  } finally {
    await source?.cancel();
  }
  if (at < length) throw unreachable(limits.url, `sent ${at} of ${length} bytes`, true);
  return bytes;
}
