import type { WaitingFile } from "../../src/browser/index.ts";
import type {
  EncodeKind,
  EncoderChoice,
  ErrorReason,
  MediaInput,
  OptionsOf,
  Source,
  Task,
} from "../../src/index.ts";

/** Where a file is worked on: this machine, or the service that the visitor connected with. */
export type Place = "device" | "edge";

/** What shall become of a file. */
export interface Wishes<K extends EncodeKind = EncodeKind> {
  readonly kind: K;
  /** As a task takes them; what is not named has its default. */
  readonly options: OptionsOf<K>;
  /** Size that the output shall not exceed, in bytes, from which the bitrate follows; null where quality or bitrate rule. */
  readonly target_size: number | null;
  /** Id of the preset that these wishes are; null for wishes of the visitor's own. */
  readonly preset: string | null;
  readonly place: Place;
  /** What gives way to reach `target_size`, in words; null or absent where nothing does. */
  readonly lowered?: string | null;
  /** What is wrong with these wishes, which are not to be started then; null or absent where nothing is. */
  readonly fault?: Fault | null;
}

/** What went wrong, as the visitor is told. */
export interface Fault {
  readonly kind: string;
  readonly message: string;
  readonly reason?: ErrorReason | undefined;
}

/** How a task goes on. */
export interface Pace {
  /** Percent of the whole task; null until it can be measured. */
  readonly progress: number | null;
  /** Seconds of media done in a second. */
  readonly speed: number | null;
  /** Seconds until the end, counted from `at`. */
  readonly eta: number | null;
  /** Milliseconds since the epoch at which this was heard; absent where that was before a reload. */
  readonly at?: number;
  /** The encoder that makes it, and why that one; null or absent until known. */
  readonly choice?: EncoderChoice | null | undefined;
  /** True while the encode waits for a free encoder. */
  readonly waits?: boolean | undefined;
}

/** The moments between the start of an item and its task. */
export interface Starting {
  /** Percent of the file that the service has; null where nothing is sent. */
  readonly sent: number | null;
  /** True until its turn comes. */
  readonly waits?: boolean;
}

/** One file or URL of the queue, from the moment it is added until it is removed. Never changed in place: every change is a new one. */
export interface Item {
  /** Ids rise with the time at which items are added. */
  readonly id: string;
  /** Name of the file, or the last part of its URL. */
  readonly name: string;
  /** Bytes; null where it is not known. */
  readonly size: number | null;
  /** What was added; null where it was a file that is gone after a reload. */
  readonly input: MediaInput | null;
  /** Id of the item from whose file this one was made anew, which is stored once for both; null or absent for one with a file of its own. */
  readonly file_of?: string | null;
  /** What a look into the file found; null before that, and where nothing was found. */
  readonly source: Source | null;
  /** A small picture of it; null where there is none yet, or none at all. */
  readonly thumbnail: Blob | null;
  readonly wishes: Wishes;
  readonly starting: Starting | null;
  /** The task that was made of it, at `wishes.place`; null before it is started. */
  readonly task: Task | null;
  /** Base URL of the service that has the task; null for one of this machine. */
  readonly service: string | null;
  readonly pace: Pace | null;
  /** The file that the task, or the item before it is started, waits for after a reload. */
  readonly waiting: WaitingFile | null;
  /** Why it could not be looked into, or not be started. */
  readonly fault: Fault | null;
}

/** How an item stands: `reading` while it is looked into, `ready` to be started, then as its task; `unusable` when it is no media, `waiting` while its file has to be given again. */
export type ItemState = "reading" | "unusable" | "ready" | "sending" | Task["status"] | "waiting";
