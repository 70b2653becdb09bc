import type { Encoder } from "../../encoders/encoder.ts";
import type { Source } from "../../media/source.ts";
import type { Pin } from "../../storage/pinned.ts";
import type { ByteReader, Storage } from "../ports.ts";
import type { Hosts } from "./decide-encode.ts";
import type { Inputs, SharedInput } from "./inputs.ts";
import type { Destination } from "./upload.ts";

/** What is known about media before the probe. */
export interface Given {
  url: string;
  mime?: string;
}

export interface StepTools extends Hosts {
  storage: Storage;
  inputs: Inputs;
  /** Longest input accepted, in seconds. */
  max_seconds: number;
  /** Opens a stored object for random access; rejects with `media_not_found` when it does not exist. */
  open(key: string): Promise<ByteReader>;
  /** Returns the most chunks that an encoder gets at once. */
  inFlight(encoder: Encoder): number;
  /**
   * How encoders on other machines reach storage: the URL of an object, and the URL of a folder to write to. Null where
   * there are none.
   */
  remote: { url(key: string): Promise<string>; folder(prefix: string): Promise<string> } | null;
  /** Probes media by random access; calls `onWait` from time to time while waiting for an encoder. */
  probe(reader: ByteReader, given: Given, signal: AbortSignal, onWait: () => void): Promise<Source>;
  /**
   * Pins the run's input: from then on, storage shows it under the key of its working copy. False when the run is over; absent
   * where every input is copied.
   */
  pin?(pin: Pin): Promise<boolean>;
  /** Rejects with `storage_full` when there is no room for so many bytes more; absent where storage has no end. */
  ensureRoom?(bytes: number): Promise<void>;
  /** Waits, across restarts, until the run may use an encoder that is scarce; rejects when the run is over. Absent where none is. */
  turn?(encoder: Encoder): Promise<void>;
  /** The input that the run shares with the others of its job; null or absent where it has its own. */
  shared?: SharedInput | null;
  /** Base name of the output, without an extension. */
  stem: string;
  /** Returns the key that the run was given to encrypt its output by; null when it has none, or no longer. */
  contentKey?(): Promise<CryptoKey | null>;
  /** Loads the font that burnt-in subtitles are drawn with, `BURN_FONT`; absent where there is none. */
  font?(): Promise<Uint8Array>;
  url(key: string): Promise<string>;
  /** Returns the key behind one of our own URLs; null for any other. */
  key(url: string): Promise<string | null>;
  /** Where the output goes; null or absent when it stays in managed storage. */
  destination?: Destination | null;
}
