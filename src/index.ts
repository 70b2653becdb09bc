export type {
  Client,
  ListOptions,
  MediaInput,
  NewStep,
  NewTask,
  Output,
  Page,
  RunRef,
  Steps,
  Tasks,
  Update,
} from "./client/client.ts";
export type { EncoderChoice } from "./core/choice.ts";
export {
  ERROR_KINDS,
  type ErrorKind,
  MediaError,
  type MediaErrorOptions,
  type RequestErrorKind,
  type RunErrorKind,
} from "./core/errors.ts";
export {
  type AdaptiveFormat,
  type AudioCodec,
  type AudioFormat,
  BOUNDS,
  DEFAULT_FORMAT,
  ENCODE_KINDS,
  type EncodeKind,
  FITS,
  type Fit,
  FORMATS,
  type ImageFormat,
  POSITIONS,
  type Position,
  QUALITIES,
  type Quality,
  STEP_KINDS,
  type StepKind,
  VIDEO_CODECS,
  type VideoCodec,
  type VideoFormat,
} from "./core/formats.ts";
export { type CreateId, createIds, isId } from "./core/ids.ts";
export type {
  AdaptiveVideoOptions,
  AudioOptions,
  ImageOptions,
  OptionsOf,
  UploadOptions,
  VideoOptions,
} from "./core/options.ts";
export { RunOver, runStep, runTask } from "./core/pipeline.ts";
export type {
  ByteRange,
  ByteReader,
  Durably,
  Report,
  StepContext,
  StepWork,
  Storage,
  Store,
  StoredInfo,
  StoredObject,
} from "./core/ports.ts";
export { parseStepRequest, parseTaskRequest, type StepRequest, type TaskRequest } from "./core/requests.ts";
export type { ExternalFile, Source, SourceColor, SourceStream } from "./core/source.ts";
export { createStep, type RunError, STEP_STATUSES, type Step, type StepStatus } from "./core/step.ts";
export { createTask, requestOf, TASK_STATUSES, type Task, type TaskStatus } from "./core/task.ts";
export { applyToStep, applyToTask, isFinished, type RunEvent } from "./core/transitions.ts";
export { type Forecast, forecast } from "./plan/forecast.ts";
export { exactFps } from "./plan/rate.ts";
export { optionsForSize } from "./plan/target-size.ts";
