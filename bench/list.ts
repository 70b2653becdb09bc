import type { Benchmark } from "./benchmark.ts";
import { gifBenchmarks } from "./cases/animation/gifski.ts";
import { apiBenchmarks } from "./cases/api.ts";
import { autoQualityBenchmarks } from "./cases/auto-quality.ts";
import { chunkedBenchmarks } from "./cases/chunked.ts";
import { coreBenchmarks } from "./cases/core.ts";
import { imageUrlBenchmarks } from "./cases/image-urls.ts";
import { ingestBenchmarks } from "./cases/ingest.ts";
import { integrityBenchmarks } from "./cases/integrity.ts";
import { ladderBenchmarks } from "./cases/ladder.ts";
import { lightBenchmarks } from "./cases/light.ts";
import { listBenchmarks } from "./cases/lists.ts";
import { nativeBenchmarks } from "./cases/native.ts";
import { overlapBenchmarks } from "./cases/overlap.ts";
import { pictureBenchmarks } from "./cases/pictures.ts";
import { pinnedBenchmarks } from "./cases/pinned.ts";
import { probeBenchmarks } from "./cases/probe.ts";
import { s3Benchmarks } from "./cases/s3.ts";
import { scaleBenchmarks } from "./cases/scale-simulation.ts";
import { floodBenchmarks } from "./cases/service/flood.ts";
import { jobBenchmarks } from "./cases/service/jobs.ts";
import { serviceScaleBenchmarks } from "./cases/service-scale.ts";
import { smartCutBenchmarks } from "./cases/smart-cut.ts";
import { waveformBenchmarks } from "./cases/sound/waveform.ts";
import { sseBenchmarks } from "./cases/sse.ts";
import { webhookBenchmarks } from "./cases/webhooks.ts";

/** All benchmarks, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  ...apiBenchmarks,
  ...listBenchmarks,
  ...sseBenchmarks,
  ...webhookBenchmarks,
  ...floodBenchmarks,
  ...serviceScaleBenchmarks,
  ...probeBenchmarks,
  ...pinnedBenchmarks,
  ...overlapBenchmarks,
  ...jobBenchmarks,
  ...ingestBenchmarks,
  ...s3Benchmarks,
  ...coreBenchmarks,
  ...lightBenchmarks,
  ...imageUrlBenchmarks,
  ...nativeBenchmarks,
  ...pictureBenchmarks,
  ...gifBenchmarks,
  ...waveformBenchmarks,
  ...integrityBenchmarks,
  ...ladderBenchmarks,
  ...autoQualityBenchmarks,
  ...chunkedBenchmarks,
  ...smartCutBenchmarks,
  ...scaleBenchmarks,
];
