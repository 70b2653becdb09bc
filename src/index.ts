export type * from "./client/client.ts";
export type { Chapter } from "./media/chapters.ts";
export { dropped } from "./media/dropped.ts";
export type { ErrorReason } from "./media/error-reason.ts";
export {
  ERROR_KINDS,
  type ErrorKind,
  FALLBACK_FAULTS,
  type FallbackFault,
  MediaError,
  type MediaErrorOptions,
  type RequestErrorKind,
  type RunErrorKind,
} from "./media/errors.ts";
export { TARGET_LUFS } from "./media/features/audio-filters.ts";
export { SAMPLE_RATES } from "./media/features/audio-format.ts";
export { exactFps } from "./media/features/fps.ts";
export { manifestEntries, manifestsOf } from "./media/ffmpeg/manifest-entries.ts";
export { type Forecast, forecast } from "./media/forecast.ts";
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
} from "./media/formats.ts";
export type {
  CaptionStyleOption,
  ConcatOption,
  CropOption,
  EncryptionOption,
  FontOption,
  ImageOverlayOption,
  ImageTextOption,
  OverlayOption,
  PartOption,
  SizeOption,
  SubtitleOption,
  TextOption,
} from "./media/option-shapes.ts";
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
} from "./media/option-types.ts";
export type { Size } from "./media/picture-geometry.ts";
export { type View, viewOf } from "./media/picture-geometry.ts";
export type { EncoderChoice, Refusal } from "./media/refusal.ts";
export type {
  Dropped,
  ExternalFile,
  Source,
  SourceColor,
  SourceStream,
  WaveformFacts,
} from "./media/source.ts";
export { METADATA_MODES, type MetadataMode } from "./media/tags.ts";
export { optionsForSize } from "./media/target-size.ts";
export { describeRefusal, explainRefusals } from "./media/words.ts";
export type { ByteRange, ByteReader, Storage, Store, StoredInfo, StoredObject } from "./runs/ports.ts";
export { parseStepRequest, parseTaskRequest, type StepRequest, type TaskRequest } from "./runs/requests.ts";
export { type RunError, STEP_STATUSES, type StepStatus } from "./runs/step.ts";
export { TASK_STATUSES, type TaskStatus } from "./runs/task.ts";
export { isFinished } from "./runs/transitions.ts";
