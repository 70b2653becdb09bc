import type { EncodeRequest } from "../media/options.ts";
import type { EncoderChoice } from "../media/refusal.ts";
import type { Source } from "../media/source.ts";
import type { Step } from "./step.ts";
import type { Task } from "./task.ts";
import type { RunEvent } from "./transitions.ts";

/** A range of bytes from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  /** The first byte, from 0. */
  start: number;
  /** One past the last byte. */
  end: number;
}

/** Metadata of a stored object. */
export interface StoredInfo {
  /** Bytes of the whole object. */
  size: number;
  /** Changes when the bytes change; without quotes. */
  etag: string;
  /** Media type, such as `video/mp4`. */
  mime: string;
}

/** A stored object being read. */
export interface StoredObject extends StoredInfo {
  /** The bytes of the requested range, or of the whole object. */
  body: ReadableStream<Uint8Array>;
}

/** Stores bytes under keys. An object appears whole or not at all, and a second write replaces the first. */
export interface Storage {
  /** Reads an object or a range of it; null when there is none. */
  read(key: string, range?: ByteRange): Promise<StoredObject | null>;
  /** Returns an object's metadata; null when there is none. */
  head(key: string): Promise<StoredInfo | null>;
  /** Writes an object from a stream of any length, in constant memory; leaves nothing behind when the stream fails. */
  write(key: string, body: ReadableStream<Uint8Array> | Uint8Array, mime: string): Promise<StoredInfo>;
  /** Prefetches a range of a remote object, so that reading it is quick; absent when no object is remote. */
  prefetch?(key: string, range: ByteRange): Promise<void>;
  /** Removes every object whose key starts with the prefix, which must not be empty. */
  clear(prefix: string): Promise<void>;
}

/** Stores tasks or standalone steps. */
export interface Store<T extends { id: string } = Task | Step> {
  /** Returns a record; null when there is none. */
  get(id: string): Promise<T | null>;
  /** Adds a record, or replaces the one with its id. */
  put(record: T): Promise<void>;
  /** Removes a record; does nothing when there is none. */
  delete(id: string): Promise<void>;
}

/** Random access to the bytes of one file. */
export interface ByteReader {
  /** Bytes of the whole file. */
  readonly size: number;
  /** Reads a range, clipped to the file. */
  read(range: ByteRange, signal?: AbortSignal): Promise<Uint8Array>;
  /** Prefetches a range of a remote file, so that reading it is quick; absent when every read is. */
  prefetch?(range: ByteRange): Promise<void>;
}

/** Receives the events of a run, in order; resolves with false when the run was cancelled or deleted and must stop. */
export type Report = (event: RunEvent) => Promise<boolean>;

/** Completes a piece of work at most once across restarts, and returns its stored result afterwards. */
export type Durably = <T>(name: string, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** The context of a piece of work. */
export interface WorkContext {
  /** The id of the task, or of the standalone step: the name of its folder in storage. */
  run_id: string;
  /** Reports percent done, 0 to 100, or null while it cannot be measured or waits in a queue; rejects when the run is over. */
  progress(percent: number | null): Promise<void>;
  /** Reports the chosen encoder; a later choice replaces an earlier one. Rejects when the run is over. */
  reportChoice(choice: EncoderChoice): Promise<void>;
  durably: Durably;
}

/** The context of a step's work. */
export interface StepContext extends WorkContext {
  step: Step;
}

/** The implementation of the steps, provided by a host; each takes media and resolves with media. */
export interface StepWork {
  probe(input: string, context: StepContext): Promise<Source>;
  ingest(input: Source, context: StepContext): Promise<Source>;
  encode(input: Source, request: EncodeRequest, context: StepContext): Promise<Source>;
  upload(input: Source, context: StepContext): Promise<Source>;
}
