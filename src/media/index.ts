export { createPlan, needsProbe } from "./create-plan.ts";
export { dropped, listDropped } from "./dropped.ts";
export { SAMPLE_RATES } from "./features/audio-format.ts";
export { exactFps, ntscRate } from "./features/fps.ts";
export { BLACK, parseColor, TRANSPARENT } from "./fields.ts";
export { type Forecast, forecast } from "./forecast.ts";
export {
  createGeometry,
  displayedSize,
  type FrameRules,
  geometryFor,
  parsePixelAspect,
  type Size,
  type SizeRules,
  type StoredPicture,
  snap,
  storedPicture,
  targetSize,
  toRightAngle,
} from "./picture-geometry.ts";
export type { AudioPlan, Chunk, Geometry, ImagePlan, Plan, Rate, Rendition, VideoPlan } from "./plan.ts";
export {
  AUDIO_BITRATE,
  audioBitrate,
  CONTAINER_BYTES,
  CRF,
  createLadder,
  FLAC_COMPRESSION,
  IMAGE_QUALITY,
  imageQuality,
  maxrateFor,
  type RateOptions,
  RUNGS,
  videoRate,
} from "./rates.ts";
export { createAudioPlan, maxBitrate, sampleRate } from "./sound-plan.ts";
export { optionsForSize } from "./target-size.ts";
export {
  CHUNK_SECONDS,
  type ChunkHints,
  type ChunkNeeds,
  createChunks,
  createSpan,
  cutPlan,
  SEGMENT_SECONDS,
  type Span,
} from "./timeline.ts";
export { createVideoPlan } from "./video-plan.ts";
export { estimateWork, type WorkEstimate } from "./work-estimate.ts";
