import type { EncodeRequest } from "../../media/options.ts";
import type { Source } from "../../media/source.ts";
import type { HttpFile, OnBytes } from "../../storage/http/reader.ts";
import type { Pin } from "../../storage/pinned.ts";
import { throttle } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import type { ByteReader, Storage, StoredInfo, WorkContext } from "../ports.ts";
import * as errors from "./errors.ts";

export interface Inputs {
  /** Opens a URL that the host can read; rejects as `openHttp` does. */
  open(url: string, signal: AbortSignal): Promise<OpenInput>;
}

export interface OpenInput {
  /** Random access; null when the server does not support ranges and the file must be read whole. */
  reader: ByteReader | null;
  mime: string | null;
  /** The whole file, for `runIngest`. */
  file: HttpFile;
  /** Identifies the file's version, so that it need not be copied; null or absent when the file must be copied. */
  pin?: Pin | null;
}

/** Opens a stored object as an input; rejects with `input_not_found` when it no longer exists. */
export async function openStored(
  storage: Storage,
  key: string,
  url: string,
  openReader: (key: string) => Promise<ByteReader>,
): Promise<OpenInput> {
  const object = await storage.read(key);
  if (!object) throw errors.inputGone();
  const { size, etag, mime, body } = object;
  const reader = await openReader(key);
  const file: HttpFile = {
    url,
    size,
    etag,
    version: etag,
    mime,
    ranges: true,
    reader,
    stream: (onBytes) => reportBytes(body, onBytes),
    close: async () => {
      if (!body.locked) await body.cancel();
    },
  };
  return { reader, mime, file };
}

/** Passes a stream through and calls `onBytes` with the bytes so far before it passes on each piece. */
export function reportBytes(body: ReadableStream<Uint8Array>, onBytes?: OnBytes): ReadableStream<Uint8Array> {
  if (!onBytes) return body;
  let total = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(bytes, controller) {
        total += bytes.length;
        await onBytes(total);
        controller.enqueue(bytes);
      },
    }),
  );
}

/** Returns a function that reports, at most twice a second, that a step waits. */
export function reportWaiting(context: WorkContext): () => Promise<void> {
  return throttle(() => context.progress(null).catch(() => undefined));
}

/** The input that a run shares with the other runs of its job. */
export interface SharedInput {
  /** Id of the job, in whose folder the input is. */
  id: string;
  /**
   * Runs `work` while no other run uses the input, with the source as another run has probed it (null if none has); calls `onWait`
   * from time to time while waiting.
   */
  withLock<T>(
    work: (probed: Source | null) => Promise<T>,
    signal: AbortSignal,
    onWait: () => Promise<void>,
  ): Promise<T>;
  /** Returns the requests of the job's other runs; absent where they do not wait for the same encoder. */
  siblings?(): Promise<readonly EncodeRequest[]>;
  /** Keeps the probed source for the other runs. */
  saveSource(source: Source): Promise<void>;
}

/** Runs durable work on a run's input. Runs that share it take turns, and each receives the source as another run has probed it. */
export function exclusively<T>(
  shared: SharedInput | null,
  name: string,
  context: WorkContext,
  work: (signal: AbortSignal, probed: Source | null) => Promise<T>,
): Promise<T> {
  return context.durably(name, (signal) => {
    if (!shared) return work(signal, null);
    const onWait = () => context.progress(null);
    return shared.withLock((probed) => work(signal, probed), signal, onWait);
  });
}

export interface Ingest {
  /** Opens the source under the caller's limits of size and time, for example `openHttp` with bound options. */
  open(): Promise<HttpFile>;
  storage: Storage;
  /** Where to store the copy; an existing object is replaced as a whole. */
  key: string;
  /** Content-Type of the copy. Default: the source's own. */
  mime?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called from time to time with the bytes received and the total (null when unknown); the copy awaits it, and fails if it rejects. */
  progress?(received: number, size: number | null): Promise<void> | void;
}

const REPORT_BYTES = 4 * MIB;

/**
 * Streams a source to storage in constant memory and returns what was stored. Rejects as `openHttp` and its stream do, or
 * with `upload_failed` when the stored size differs from the bytes received.
 */
export async function runIngest({ open, storage, key, mime, signal, progress }: Ingest): Promise<StoredInfo> {
  signal?.throwIfAborted();
  const file = await open();
  try {
    let received = 0;
    let reported = 0;
    const total = file.size ?? file.sizeHint ?? null;
    const body = file.stream(async (bytes) => {
      signal?.throwIfAborted();
      received = bytes;
      if (received - reported < REPORT_BYTES) return;
      reported = received;
      await progress?.(received, total && Math.max(total, received));
    });
    const info = await storage.write(key, body, mime ?? file.mime ?? "application/octet-stream");
    if (info.size !== received || (file.size !== null && info.size !== file.size)) {
      throw errors.copyIncomplete({ received, stored: info.size });
    }
    await progress?.(received, file.size);
    return info;
  } finally {
    await file.close();
  }
}
