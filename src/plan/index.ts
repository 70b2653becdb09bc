export { SAMPLE_RATES } from "../media/features/audio-format.ts";
export { exactFps, ntscRate } from "../media/features/fps.ts";
export { createAudioPlan, maxBitrate, sampleRate } from "./audio.ts";
export {
  CHUNK_SECONDS,
  type ChunkHints,
  type ChunkNeeds,
  createChunks,
  cutPlan,
  SEGMENT_SECONDS,
} from "./chunks.ts";
export { BLACK, parseColor, TRANSPARENT } from "./color.ts";
export { CONTAINER_BYTES } from "./container-bytes.ts";
export { createPlan, needsProbe } from "./create-plan.ts";
export { dropped, listDropped } from "./dropped.ts";
export { type Estimate, estimateWork } from "./estimate.ts";
export { type Forecast, forecast } from "./forecast.ts";
export { createGeometry, type FrameRules, geometryFor } from "./geometry.ts";
export { createLadder, maxrateFor, RUNGS } from "./ladder.ts";
export type { AudioPlan, Chunk, Geometry, ImagePlan, Plan, Rate, Rendition, VideoPlan } from "./plan.ts";
export {
  AUDIO_BITRATE,
  audioBitrate,
  CRF,
  FLAC_COMPRESSION,
  IMAGE_QUALITY,
  imageQuality,
  type RateOptions,
  videoRate,
} from "./rate.ts";
export {
  displayedSize,
  parsePixelAspect,
  type Size,
  type SizeRules,
  type StoredPicture,
  snap,
  storedPicture,
  targetSize,
  toRightAngle,
} from "./size.ts";
export { createSpan, type Span } from "./span.ts";
export { optionsForSize } from "./target-size.ts";
export { createVideoPlan } from "./video.ts";
