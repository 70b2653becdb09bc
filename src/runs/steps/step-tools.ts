import type { Encoder } from "../../encoders/encoder.ts";
import type { Source } from "../../media/source.ts";
import type { Pin } from "../../storage/pinned.ts";
import type { ScriptFonts } from "../../subtitles/script-fonts.ts";
import type { ByteReader, Storage } from "../ports.ts";
import type { Hosts } from "./decide-encode.ts";
import type { Inputs, SharedInput } from "./inputs.ts";
import type { Destination } from "./upload.ts";

/** The facts about a file that are known before the probe. */
export interface ProbeInput {
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
  /** Returns the maximum number of chunks that an encoder receives at once. */
  inFlight(encoder: Encoder): number;
  /** How encoders on other machines reach storage: the URL of an object, and of a folder to write to. Null when there are none. */
  remote: { url(key: string): Promise<string>; folder(prefix: string): Promise<string> } | null;
  /** Probes media by random access; calls `onWait` from time to time while waiting for an encoder. */
  probe(reader: ByteReader, file: ProbeInput, signal: AbortSignal, onWait: () => void): Promise<Source>;
  /**
   * Pins the run's input: from then on, storage serves it under the key of its working copy. Resolves with false when the run is
   * over; absent when every input is copied.
   */
  pin?(pin: Pin): Promise<boolean>;
  /** Rejects with `storage_full` when storage lacks room for this many more bytes; absent when storage is unlimited. */
  ensureRoom?(bytes: number): Promise<void>;
  /** Waits, across restarts, for the run's turn on a scarce encoder; rejects when the run is over. Absent when no encoder is scarce. */
  turn?(encoder: Encoder): Promise<void>;
  /** Whether another host gets the run if no encoder here accepts it. Default false. */
  delegates?: boolean;
  /** The input that the run shares with the other runs of its job; null or absent when it has its own. */
  shared?: SharedInput | null;
  /** Base name of the output, without an extension. */
  stem: string;
  /** Returns the key that encrypts the run's output; null when the run has none or it is no longer stored. */
  contentKey?(): Promise<CryptoKey | null>;
  /** Loads the font of burnt-in subtitles, `BURN_FONT`; absent when the host has none. */
  font?(): Promise<Uint8Array>;
  /** The fonts for letters that `font` lacks; absent when the host has none. */
  scriptFonts?: ScriptFonts | undefined;
  url(key: string): Promise<string>;
  /** Returns the key behind one of our own URLs; null for any other. */
  key(url: string): Promise<string | null>;
  /** Destination of the output; null or absent when it stays in managed storage. */
  destination?: Destination | null;
}
