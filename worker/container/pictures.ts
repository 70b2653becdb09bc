import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { arrayBuffer } from "node:stream/consumers";
import type { RemoteFiles } from "../../src/encoders/encoder.ts";
import {
  MAX_PICTURE_BYTES,
  MAX_PICTURE_SECONDS,
  type NativePicture,
} from "../../src/encoders/native/native-wire.ts";
import { type FrameReader, readFrames } from "../../src/encoders/wire-frame.ts";
import { MediaError } from "../../src/media/errors.ts";
import { nativeWork } from "../../src/media/native-costs.ts";
import { limitTime, within } from "../../src/util/async.ts";
import * as errors from "./errors.ts";
import type { Jobs, Memory, Reservation } from "./jobs.ts";
import { parsePicture } from "./parse-job.ts";

/** Encodes pictures that come with their request, one at a time, so they never take more than one slot. */
export interface Pictures {
  /** Reads a `NativePicture` from a request's body and returns the new picture; null when there is no slot within `waitMs`, or no memory. Rejects with a {@link MediaError}. */
  encode(
    body: ReadableStream<Uint8Array>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | null>;
}

const READ_MS = 20_000;
const withReadTimeout = <T>(reading: Promise<T>) =>
  within(reading, READ_MS, () => {
    throw errors.pictureTimeout({ seconds: MAX_PICTURE_SECONDS });
  });

/** Creates {@link Pictures} on the jobs of a server, whose memory they share. */
export function createPictures(jobs: Jobs, server: PictureServer, memory: Memory): Pictures {
  let last: Promise<void> = Promise.resolve();

  async function encode(frames: FrameReader, until: number, signal: AbortSignal) {
    const { size, ...work } = parsePicture(await withReadTimeout(frames.json()));
    // One reservation for its bytes and its job, because a single reservation always fits.
    const reservation = memory.reserve(size + nativeWork(work.plan, work.source).memory);
    if (!reservation) return null;
    try {
      const bytes = await withReadTimeout(frames.bytes(size));
      return await encodeServed(work, bytes, until, signal, (usage) => reservation.fits(size + usage));
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
        if (!picture) await withReadTimeout(frames.drain());
        return picture;
      } finally {
        void previous.then(resolve);
      }
    },
  };
}

/** A picture in memory, served at URLs that a job reads from and writes to. */
export interface ServedPicture {
  files: RemoteFiles;
  /** The output of the job; null for none. */
  written(): Uint8Array<ArrayBuffer> | null;
  /** Whether the job failed because its output was too large. */
  isTooLarge(): boolean;
  close(): void;
}

/** Serves pictures to jobs on loopback. */
interface PictureServer {
  serve(bytes: Uint8Array): ServedPicture;
  close(): void;
}

interface Entry {
  bytes: Uint8Array;
  written: Uint8Array<ArrayBuffer> | null;
  isTooLarge: boolean;
}

const NAME = "picture";

/** Starts the server of pictures on a free port. */
export async function startPictureServer(): Promise<PictureServer> {
  const entries = new Map<string, Entry>();
  const server = createServer((request, response) => {
    const [, path = "", name] = /^\/(\w+)(?:\/(\w+))?$/.exec(request.url?.split("?")[0] ?? "") ?? [];
    const entry = entries.get(path);
    if (!entry) response.writeHead(404).end();
    else if (name === undefined) read(entry, request, response);
    else write(entry, request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    serve(bytes) {
      const path = randomBytes(24).toString("hex");
      const entry: Entry = { bytes, written: null, isTooLarge: false };
      entries.set(path, entry);
      const url = `${origin}/${path}`;
      return {
        files: { input: { url, size: bytes.length, etag: "" }, folder: `${url}/`, name: NAME },
        written: () => entry.written,
        isTooLarge: () => entry.isTooLarge,
        close: () => entries.delete(path),
      };
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function read({ bytes }: Entry, { headers }: IncomingMessage, response: ServerResponse): void {
  const [, first = "0", last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  const start = Number(first);
  const end = Math.min(bytes.length, last ? Number(last) + 1 : bytes.length);
  const range = `bytes ${start}-${end - 1}/${bytes.length}`;
  response.writeHead(206, { "Content-Range": range, "Content-Length": end - start });
  response.end(bytes.subarray(start, end));
}

// A POST begins a multipart upload, which means that the output is above the limit.
async function write(entry: Entry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "PUT") {
    entry.isTooLarge = true;
    response.writeHead(413).end();
    return;
  }
  entry.written = new Uint8Array(await arrayBuffer(request));
  const answer = { size: entry.written.length, etag: "" };
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
}
