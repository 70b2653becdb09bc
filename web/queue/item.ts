import type { WaitingFile } from "../../src/browser/index.ts";
import {
  type EncodeKind,
  type EncoderChoice,
  type ErrorReason,
  MediaError,
  type MediaInput,
  type OptionsOf,
  type Source,
  type Task,
} from "../../src/index.ts";
import * as strings from "./strings.ts";

/** Where a file is processed: on this machine, or at the connected service. */
export type Place = "device" | "edge";

/** The output that the visitor chose for a file. */
export interface Settings<K extends EncodeKind = EncodeKind> {
  readonly kind: K;
  /** Options as in a task; absent ones have their defaults. */
  readonly options: OptionsOf<K>;
  /** Size limit of the output in bytes, which determines the bitrate; null when quality or bitrate apply. */
  readonly target_size: number | null;
  /** Id of the preset that these options match; null for the visitor's own. */
  readonly preset: string | null;
  readonly place: Place;
  /** Names what is lowered to reach `target_size`; null or absent when nothing is. */
  readonly lowered?: string | null;
  /** The error in these options, which prevents a start; null or absent when there is none. */
  readonly fault?: Fault | null;
}

/** A pattern for the name of an output, and the values that it takes for an item. */
export interface Naming {
  /** The name without its extension, with `{name}` (of the file), `{n}`, `{size}` (of the output's pictures) and `{date}`. */
  readonly pattern: string;
  /** The number of the item among those named together, such as `07`. */
  readonly number: string;
  /** The day on which the pattern was chosen, as `2026-11-29`. */
  readonly date: string;
}

/** An error as shown to the visitor. */
export interface Fault {
  readonly kind: string;
  readonly message: string;
  readonly reason?: ErrorReason | undefined;
}

export interface Pace {
  /** Percentage of the whole task; null until it can be measured. */
  readonly progress: number | null;
  /** Seconds of media processed per second. */
  readonly speed: number | null;
  /** Seconds until the end, counted from `at`. */
  readonly eta: number | null;
  /** Time at which this was received, in milliseconds since the epoch; absent if it was before a reload. */
  readonly at?: number;
  /** The chosen encoder, and why; null or absent until known. */
  readonly choice?: EncoderChoice | null | undefined;
  readonly waits?: boolean | undefined;
}

/** The state between the start of an item and its task. */
export interface Starting {
  /** Percentage of the file uploaded to the service; null when nothing is uploaded. */
  readonly percent: number | null;
  /** Whether the item still waits for its turn. */
  readonly waits?: boolean;
}

/** One file or URL of the queue, from when it is added until it is removed. Immutable: every change creates a new object. */
export interface Item {
  /** Ids ascend in the order in which items are added. */
  readonly id: string;
  /** Name of the file, or the last part of its URL. */
  readonly name: string;
  /** Size in bytes; null when unknown. */
  readonly size: number | null;
  /** The added file or URL; null for a file that is gone after a reload. */
  readonly input: MediaInput | null;
  /** Id of the item that this one was recreated from, whose stored file both share; null or absent for one with its own file. */
  readonly file_of?: string | null;
  /** The result of the probe; null before it, and when it found nothing. */
  readonly source: Source | null;
  /** A thumbnail; null when there is none (yet). */
  readonly thumbnail: Blob | null;
  readonly settings: Settings;
  /** The pattern that names its output; null or absent for the name of the file. */
  readonly naming?: Naming | null;
  /** Ascending ranks determine the order of the items; null or absent for the order in which files were added. */
  readonly rank?: number | null;
  /** Path of the job that it was added for; null or absent for none. */
  readonly job?: string | null;
  readonly starting: Starting | null;
  /** The task created from it, at `settings.place`; null before it is started. */
  readonly task: Task | null;
  /** Base URL of the service that has the task; null for one on this machine. */
  readonly service: string | null;
  readonly pace: Pace | null;
  /** The file that the task, or the unstarted item, waits for after a reload. */
  readonly waiting: WaitingFile | null;
  /** Why it could not be probed or started. */
  readonly fault: Fault | null;
}

/**
 * The state of an item: `reading` while it is probed, `ready` to be started, then as its task; `unusable` when it is not
 * media, `waiting` until its file is provided again.
 */
export type ItemState = "reading" | "unusable" | "ready" | "sending" | Task["status"] | "waiting";

/** Length of the time at the start of an id, in base 36. */
export const ID_TIME_LENGTH = 11;

let last = 0;

/** Creates an item from a file or URL that has not been probed. */
export function createItem(input: MediaInput, job: string | null = null): Item {
  return {
    id: nextId(),
    name: nameOf(input),
    size: typeof input === "string" || !("size" in input) ? null : input.size,
    input,
    source: null,
    thumbnail: null,
    settings: { kind: "video", options: {}, target_size: null, preset: null, place: "device" },
    job,
    starting: null,
    task: null,
    service: null,
    pace: null,
    waiting: null,
    fault: null,
  };
}

/** Returns a new id, which sorts after all earlier ones of this tab. */
export function nextId(): string {
  last = Math.max(last + 1, Date.now() * 1000);
  return `${last.toString(36).padStart(ID_TIME_LENGTH, "0")}-${crypto.randomUUID().slice(0, 8)}`;
}

/** Returns an input's name as the visitor knows it: the file's, or the last part of a URL. */
function nameOf(input: MediaInput): string {
  if (typeof input !== "string") return "name" in input ? String(input.name) : strings.pastedFile;
  const url = URL.parse(input);
  const part = url?.pathname.split("/").findLast((each) => each !== "");
  return (part && readable(part)) || url?.hostname || input;
}

function readable(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof MediaError) {
    const { kind, message, reason } = thrown;
    return { kind, message, ...(reason && { reason }) };
  }
  console.warn(thrown);
  return { kind: "internal_error", message: strings.pageFailed };
}
