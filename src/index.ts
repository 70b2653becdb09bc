export type * from "./client/client.ts";
export type { Chapter } from "./core/chapters/chapters.ts";
export type { EncoderChoice } from "./core/choice.ts";
export type { ErrorReason } from "./core/error-reason.ts";
export {
  ERROR_KINDS,
  type ErrorKind,
  FALLBACK_FAULTS,
  type FallbackFault,
  MediaError,
  type MediaErrorOptions,
  type RequestErrorKind,
  type RunErrorKind,
} from "./core/errors.ts";
export {
  type AdaptiveFormat,
  ANIMATION_DEFAULTS,
  type AnimationFormat,
  type AudioCodec,
  type AudioFormat,
  BOUNDS,
  DEFAULT_FORMAT,
  ENCODE_KINDS,
  type EncodeKind,
  FITS,
  type Fit,
  FLIPS,
  type Flip,
  FORMATS,
  type ImageFormat,
  POSITIONS,
  type Position,
  QUALITIES,
  type Quality,
  SOUND_CODECS,
  STEP_KINDS,
  STORYBOARD_DEFAULTS,
  type StepKind,
  type StoryboardFormat,
  TURNS,
  type Turn,
  VIDEO_CODECS,
  type VideoCodec,
  type VideoFormat,
  type WaveformFormat,
} from "./core/formats.ts";
export type {
  AdaptiveVideoOptions,
  AnimationOptions,
  AudioOptions,
  ImageOptions,
  OptionsOf,
  ProbeOptions,
  StoryboardOptions,
  UploadOptions,
  VideoOptions,
  WaveformOptions,
} from "./core/option-types.ts";
export type {
  ConcatOption,
  CropOption,
  EncryptionOption,
  ImageOverlayOption,
  OverlayOption,
  SizeOption,
  SubtitleOption,
} from "./core/options/option-shapes.ts";
export type { Refusal } from "./core/refusal.ts";
export type {
  Dropped,
  ExternalFile,
  Source,
  SourceColor,
  SourceStream,
  WaveformFacts,
} from "./core/source.ts";
export { METADATA_MODES, type MetadataMode } from "./core/tags.ts";
export { manifestEntries, manifestsOf } from "./ffmpeg/manifests/manifest-entries.ts";
export { TARGET_LUFS } from "./media/features/audio-filters.ts";
export { SAMPLE_RATES } from "./media/features/audio-format.ts";
export { exactFps } from "./media/features/fps.ts";
export { dropped } from "./plan/dropped.ts";
export { type Forecast, forecast } from "./plan/forecast.ts";
export type { Size } from "./plan/size.ts";
export { optionsForSize } from "./plan/target-size.ts";
export { type View, viewOf } from "./plan/view.ts";
export type { ByteRange, ByteReader, Storage, Store, StoredInfo, StoredObject } from "./runs/ports.ts";
export { parseStepRequest, parseTaskRequest, type StepRequest, type TaskRequest } from "./runs/requests.ts";
export { type RunError, STEP_STATUSES, type StepStatus } from "./runs/step.ts";
export { TASK_STATUSES, type TaskStatus } from "./runs/task.ts";
export { isFinished } from "./runs/transitions.ts";
export { describeRefusal, explainRefusals } from "./words/refusal-words.ts";
