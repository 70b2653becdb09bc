import { z } from "zod";
import { EncoderChoice } from "../media/refusal.ts";
import type { RunError } from "../runs/step.ts";
import { Task } from "../runs/task.ts";

/** A change of a task or step, with its pace where known. */
export interface Update<T> {
  /** The record after the change. */
  record: T;
  /** Percentage of the whole run, 0 to 100; never falls; null until it can be measured. */
  progress: number | null;
  /** Seconds of media processed per second; null until known. */
  speed: number | null;
  /** Seconds until the end; null until known. */
  eta: number | null;
  /** The encoder chosen for the encode, and why; null until it is chosen, absent in updates from older services. */
  choice?: EncoderChoice | null | undefined;
  /** The error of a run that failed; null otherwise. */
  error: RunError | null;
  /** The reason why it waits; null while it works, absent in updates from a service. */
  waiting?: Waiting | null | undefined;
  /**
   * Progress of the upload of the run's file to the local client's `fallback`; null at other times, absent in updates from a
   * service.
   */
  upload?: UploadProgress | null | undefined;
}

/** The reason why a run in a page waits: for a free encoder, or for its file, which a reload has made unreadable. */
export type Waiting =
  | {
      /** A free encoder. */
      for: "encoder";
    }
  | ({
      /** The visitor's file. */
      for: "file";
    } & WaitingFile);

/** The file that a run waits for, as the visitor knows it. */
export interface WaitingFile {
  /** Name without folders. */
  name: string;
  /** Size in bytes. */
  size: number;
  /** `permission`: the visitor must allow reading it again; `gone`: the visitor must choose it again. */
  reason: "gone" | "permission";
}

/** The progress of an upload. */
export interface UploadProgress {
  /** Bytes sent. */
  sent: number;
  /** Size of the file in bytes. */
  size: number;
}

/** The data of an event of `GET /tasks/{id}/events`. */
export const TaskUpdate: z.ZodType<Omit<Update<Task>, "error">> = z
  .object({
    record: Task,
    progress: z.int().min(0).max(100).nullable().meta({
      description:
        "Percentage of the whole task, 0 to 100, which never falls; null until it can be measured.",
    }),
    speed: z
      .number()
      .nullable()
      .meta({ description: "Seconds of media processed per second; null until known." }),
    eta: z.number().nullable().meta({ description: "Seconds until the task ends; null until known." }),
    choice: EncoderChoice.nullable().optional().meta({
      description: "The encoder chosen for the encode, and why; null until it is chosen.",
    }),
  })
  .meta({ id: "TaskUpdate" });
