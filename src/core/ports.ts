import type { EncoderChoice } from "./choice.ts";
import type { Source } from "./source.ts";
import type { Step } from "./step.ts";
import type { Task } from "./task.ts";
import type { RunEvent } from "./transitions.ts";

/** A stretch of bytes: from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  start: number;
  end: number;
}

/** What is known of stored bytes without reading them. */
export interface StoredInfo {
  /** Bytes of the whole object. */
  size: number;
  /** Changes when the bytes change; without quotes. */
  etag: string;
  mime: string;
}

/** Stored bytes on their way out. */
export interface StoredObject extends StoredInfo {
  /** The bytes of the range asked for, or of the whole object. */
  body: ReadableStream<Uint8Array>;
}

/** Holds bytes under keys. An object appears whole or not at all, and a second write replaces the first. */
export interface Storage {
  /** Reads an object or a range of it; null when there is none. */
  read(key: string, range?: ByteRange): Promise<StoredObject | null>;
  /** Gives what is known of an object; null when there is none. */
  head(key: string): Promise<StoredInfo | null>;
  /** Writes an object from a stream of any length, in constant memory; nothing is left behind when the stream fails. */
  write(key: string, body: ReadableStream<Uint8Array> | Uint8Array, mime: string): Promise<StoredInfo>;
  /** Removes every object whose key starts with the prefix. */
  clear(prefix: string): Promise<void>;
}

/** Remembers tasks or standalone steps. */
export interface Store<T extends { id: string } = Task | Step> {
  get(id: string): Promise<T | null>;
  put(record: T): Promise<void>;
  delete(id: string): Promise<void>;
}

/** Random access to the bytes of one file. */
export interface ByteReader {
  /** Bytes of the whole file. */
  readonly size: number;
  /** Reads a range, clipped to the file. */
  read(range: ByteRange, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Takes the events of a run, in order; answers false when the run is over (cancelled, deleted) and must stop. */
export type Report = (event: RunEvent) => Promise<boolean>;

/** Runs a piece of work at most once to success, whatever restarts in between, and gives its result again afterwards. */
export type Durably = <T>(name: string, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** What a step's work is given beside its input. */
export interface StepContext {
  /** The id of the task, or of the standalone step: the name of its folder in storage. */
  run_id: string;
  step: Step;
  /** Reports percent done, 0 to 100, or null for work that moves (or waits its turn) without a measure; rejects when the run is over. */
  progress(percent: number | null): Promise<void>;
  /** Reports which encoder does the work; a newer choice takes the place of the one before. Rejects when the run is over. */
  chosen(choice: EncoderChoice): Promise<void>;
  durably: Durably;
}

/** The work of the steps, as a host provides it: each takes media and gives media. */
export interface StepWork {
  probe(input: string, context: StepContext): Promise<Source>;
  ingest(input: Source, context: StepContext): Promise<Source>;
  encode(input: Source, context: StepContext): Promise<Source>;
  upload(input: Source, context: StepContext): Promise<Source>;
}
