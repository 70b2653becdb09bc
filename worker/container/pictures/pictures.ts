import { randomUUID } from "node:crypto";
import {
  MAX_PICTURE_BYTES,
  MAX_PICTURE_SECONDS,
  type NativePicture,
} from "../../../src/encoders/native/native-wire.ts";
import { type FrameReader, readFrames } from "../../../src/encoders/wire-frame.ts";
import { MediaError } from "../../../src/media/errors.ts";
import { nativeWork } from "../../../src/media/route/costs.ts";
import { limitTime, within } from "../../../src/util/async.ts";
import { errors } from "../errors.ts";
import type { Jobs } from "../jobs.ts";
import type { Memory, Reservation } from "../memory.ts";
import { parsePicture } from "../parse-job.ts";
import type { PictureServer } from "./picture-desk.ts";

/** Encodes pictures that come with their request, one at a time, so they never take more than one slot. */
export interface Pictures {
  /** Reads a `NativePicture` from a request's body and returns the new picture; null when there is no slot within `waitMs`, or no memory. Rejects with a {@link MediaError}. */
  encode(
    body: ReadableStream<Uint8Array>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | null>;
}

// The sender holds the picture in memory until it has been read.
const READ_MS = 20_000;
const readSoon = <T>(reading: Promise<T>) =>
  within(reading, READ_MS, () => {
    throw errors.pictureTimeout({ seconds: MAX_PICTURE_SECONDS });
  });

/** Creates {@link Pictures} on the jobs of a server, whose memory they share. */
export function createPictures(jobs: Jobs, server: PictureServer, memory: Memory): Pictures {
  // Resolves after the current picture and those that wait for it.
  let last: Promise<void> = Promise.resolve();

  async function encode(frames: FrameReader, until: number, signal: AbortSignal) {
    const { size, ...work } = parsePicture(await readSoon(frames.json()));
    // One reservation for its bytes and its job, because a single reservation always fits.
    const reservation = memory.reserve(size + nativeWork(work.plan, work.source).memory);
    if (!reservation) return null;
    try {
      const bytes = await readSoon(frames.bytes(size));
      return await encodeServed(work, bytes, until, signal, (used) => reservation.fits(size + used));
    } finally {
      reservation.release();
      jobs.fill();
    }
  }

  async function encodeServed(
    work: Omit<NativePicture, "size">,
    bytes: Uint8Array,
    until: number,
    signal: AbortSignal,
    fits: Reservation["fits"],
  ) {
    const picture = server.serve(bytes);
    const id = randomUUID();
    const limit = limitTime(MAX_PICTURE_SECONDS * 1000, { signal });
    try {
      const job = { ...work, id, ...picture.files };
      const reservation = { fits, release() {} };
      const started = await jobs.start(job, Math.max(0, until - Date.now()), limit.signal, reservation);
      limit.signal.throwIfAborted();
      if (!started) return null;
      let { state } = started;
      while (state.state === "running") {
        const next = await jobs.poll(id, MAX_PICTURE_SECONDS * 1000, limit.signal);
        limit.signal.throwIfAborted();
        if (!next) throw errors.pictureJobLost();
        state = next;
      }
      if (picture.isTooLarge()) throw errors.largePicture({ max_bytes: MAX_PICTURE_BYTES });
      if (state.state === "failed") throw new MediaError(state.error.kind, state.error.message, state.error);
      const written = picture.written();
      if (written) return written;
      throw errors.noPictureWritten();
    } catch (thrown) {
      throw limit.isOver ? errors.pictureTimeout({ seconds: MAX_PICTURE_SECONDS }) : thrown;
    } finally {
      limit.clear();
      picture.close();
      await jobs.remove(id);
    }
  }

  return {
    async encode(body, waitMs, signal) {
      const until = Date.now() + waitMs;
      const frames = readFrames(body);
      const previous = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      try {
        const free = await within(
          previous.then(() => true),
          waitMs,
          () => false,
        );
        const picture = free ? await encode(frames, until, signal) : null;
        // The response must follow the whole request.
        if (!picture) await readSoon(frames.drain());
        return picture;
      } finally {
        void previous.then(resolve);
      }
    },
  };
}
