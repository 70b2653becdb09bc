import { KIB } from "../../util/bytes.ts";
import { createByteSource } from "../byte-source.ts";
import { BrokenBody, Silence } from "./broken-body.ts";
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

/** Memory that is filled from its start. */
export interface Filling {
  bytes: Uint8Array<ArrayBuffer>;
  /** Bytes that have arrived. */
  filled: number;
}

const SCRATCH_BYTES = 256 * KIB;

/**
 * Fills the rest of the memory with a body of exactly that length; rejects with `input_unreachable` when it has another length or
 * breaks off. What had arrived by then stays.
 */
export async function fillExactly(
  response: Response,
  filling: Filling,
  limits: BodyLimits & { url: string },
): Promise<void> {
  const { bytes } = filling;
  const source = response.body ? createByteSource(response.body) : null;
  // What is passed to a body that breaks off is lost.
  let scratch = new Uint8Array(SCRATCH_BYTES);
  try {
    while (source) {
      const piece = await inTime(source.read(scratch), limits);
      if (!piece) break;
      if (filling.filled + piece.length > bytes.length) {
        filling.filled = 0;
        throw unreachable(limits.url, "sent more than it declared", true);
      }
      bytes.set(piece, filling.filled);
      filling.filled += piece.length;
      scratch = new Uint8Array(piece.buffer);
    }
  } catch (thrown) {
    if (!(thrown instanceof BrokenBody)) throw thrown;
    // The break came after the last byte.
    if (filling.filled === bytes.length) return;
    throw unreachable(
      limits.url,
      `broke off after ${filling.filled} of ${bytes.length} bytes: ${thrown.message}`,
      true,
      thrown,
    );
  } finally {
    await source?.cancel();
  }
  if (filling.filled < bytes.length) {
    throw unreachable(limits.url, `sent ${filling.filled} of ${bytes.length} bytes`, true);
  }
}
