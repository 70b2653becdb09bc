import type { ErrorReason } from "../media/error-reason.ts";
import { MediaError } from "../media/errors.ts";
import type { EncodeKind } from "../media/formats.ts";

/** The parts of a request that use a connection, as subjects of a sentence. */
export const CONNECTION_USERS = {
  input: "An s3:// input",
  output: "An S3 output",
  upload: "An upload",
} as const;

type RecordType = "task" | "step" | "job";
type AfterReason = Extract<ErrorReason, { code: "after" }>;

const ENDS = { failed: "failed", cancelled: "was cancelled", deleted: "was deleted" } as const;

export const fieldOfJob = ({ field }: { field: string }) =>
  new MediaError(
    "request_invalid",
    `Unknown field "${field}" of an output: the job has one for all its outputs.`,
    {
      param: field,
    },
  );
export const nameTaken = () =>
  new MediaError("request_invalid", "name must differ from the names of the other outputs.", {
    param: "name",
  });
export const afterUnknown = () => invalidAfter("must name another output of the job.");
export const afterCircular = () => invalidAfter("leads back to the output itself.");
export const afterSeveralFiles = ({ kind }: { kind: EncodeKind }) =>
  invalidAfter(`names an output of kind ${kind}, which is not a single file.`);
export const afterSeveralStills = () =>
  invalidAfter("names an output of several stills, which is not a single file.");
export const afterData = ({ kind, format }: { kind: EncodeKind; format: string }) =>
  invalidAfter(`names an output of kind ${kind} as ${format}, which is data; only "png" can be read.`);
/** The error of an output, with the output's path before its own. */
export const ofOutput = ({ index, error }: { index: number; error: MediaError }) => {
  const { kind, message, param, reason } = error;
  const path = `outputs.${index}`;
  const field = param === undefined ? path : `${path}.${param}`;
  if (reason?.code !== "field") return new MediaError(kind, `${path}: ${message}`, { param: field, reason });
  return new MediaError(kind, `${path}.${message}`, {
    param: field,
    reason: { ...reason, field: `${path}.${reason.field}` },
  });
};

export const notCancellable = (object: RecordType) =>
  new MediaError(`${object}_finished`, `The ${object} is finished and cannot be cancelled.`);
export const running = (object: RecordType) =>
  new MediaError(`${object}_running`, `The ${object} still runs; cancel it first.`);
export const stepNotFound = ({ task, step }: { task: string; step: string }) =>
  new MediaError("step_not_found", `Task ${task} has no step ${step}.`);
export const stepInputMissing = () => new MediaError("internal_error", "The step has no input.");
/** The error of a task that waited for the output of another. */
export const inputTaskEnded = ({ task, ended }: Pick<AfterReason, "task" | "ended">) =>
  new MediaError("input_not_found", `The input is the output of ${task}, which ${ENDS[ended]}.`, {
    reason: { code: "after", task, ended },
  });
/** The error of retrying a task whose input another task never produced. */
export const inputNeverMade = ({ task }: { task: string }) =>
  new MediaError(
    "invalid_input",
    `The input is the output of ${task}, which was never produced; create the task again with an input of its own.`,
    { param: "input" },
  );

function invalidAfter(rule: string): MediaError {
  return new MediaError("request_invalid", `after ${rule}`, { param: "after" });
}
