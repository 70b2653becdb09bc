import { randomUUID } from "node:crypto";
import { MediaError } from "../../../src/core/errors.ts";
import {
  MAX_PICTURE_BYTES,
  MAX_PICTURE_SECONDS,
  type NativePicture,
} from "../../../src/encoders/native/native-wire.ts";
import { type FrameReader, readFrames } from "../../../src/encoders/wire-frame.ts";
import { nativeWork } from "../../../src/route/native-cost.ts";
import { limitTime, within } from "../../../src/util/async.ts";
import { errors } from "../errors.ts";
import type { Jobs } from "../jobs.ts";
import type { Memory, Share } from "../memory.ts";
import { parsePicture } from "../parse-job.ts";
import type { PictureDesk } from "./picture-desk.ts";

/** Makes pictures that come and go with a request, one at a time, so that they never take more than one place. */
export interface Pictures {
  /** Reads a `NativePicture` from a request's body and returns the new picture; null when no place is free within `wait_ms`, or no memory. Rejects with a {@link MediaError}. */
  make(
    body: ReadableStream<Uint8Array>,
    wait_ms: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | null>;
}

// For what is sent, for which its sender holds memory.
const READ_MS = 20_000;
const readSoon = <T>(reading: Promise<T>) =>
  within(reading, READ_MS, () => {
    throw errors.pictureTimeout({ seconds: MAX_PICTURE_SECONDS });
  });

/** Creates {@link Pictures} on the jobs of a server, in memory that they share. */
export function createPictures(jobs: Jobs, desk: PictureDesk, memory: Memory): Pictures {
  // Ends with the picture that is being made, and those that wait for it.
  let last: Promise<void> = Promise.resolve();

  async function make(frames: FrameReader, until: number, signal: AbortSignal) {
    const { size, ...work } = parsePicture(await readSoon(frames.json()));
    // For its bytes and its job together, so that alone it fits as any job does.
    const share = memory.take(size + nativeWork(work.plan, work.source).memory);
    if (!share) return null;
    try {
      const bytes = await readSoon(frames.bytes(size));
      return await makeHeld(work, bytes, until, signal, (taken) => share.fits(size + taken));
    } finally {
      share.end();
      jobs.fill();
    }
  }

  async function makeHeld(
    work: Omit<NativePicture, "size">,
    bytes: Uint8Array,
    until: number,
    signal: AbortSignal,
    fits: Share["fits"],
  ) {
    const held = desk.hold(bytes);
    const id = randomUUID();
    const limit = limitTime(MAX_PICTURE_SECONDS * 1000, { signal });
    try {
      const job = { ...work, id, ...held.files };
      const share = { fits, end() {} };
      const started = await jobs.start(job, Math.max(0, until - Date.now()), limit.signal, share);
      limit.signal.throwIfAborted();
      if (!started) return null;
      let { state } = started;
      while (state.state === "running") {
        const next = await jobs.ask(id, MAX_PICTURE_SECONDS * 1000, limit.signal);
        limit.signal.throwIfAborted();
        if (!next) throw errors.pictureJobLost();
        state = next;
      }
      if (held.isTooLarge()) throw errors.largePicture({ max_bytes: MAX_PICTURE_BYTES });
      if (state.state === "failed") throw new MediaError(state.error.kind, state.error.message, state.error);
      const written = held.written();
      if (written) return written;
      throw errors.noPictureWritten();
    } catch (thrown) {
      throw limit.isOver ? errors.pictureTimeout({ seconds: MAX_PICTURE_SECONDS }) : thrown;
    } finally {
      limit.clear();
      held.close();
      await jobs.remove(id);
    }
  }

  return {
    async make(body, wait_ms, signal) {
      const until = Date.now() + wait_ms;
      const frames = readFrames(body);
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      try {
        const free = await within(
          before.then(() => true),
          wait_ms,
          () => false,
        );
        const made = free ? await make(frames, until, signal) : null;
        // The sender is answered once all it sent has been read.
        if (!made) await readSoon(frames.drain());
        return made;
      } finally {
        void before.then(resolve);
      }
    },
  };
}
