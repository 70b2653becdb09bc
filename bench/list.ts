import { apiBenchmarks } from "./api.ts";
import type { Benchmark } from "./benchmark.ts";
import { chunkedBenchmarks } from "./chunked.ts";
import { ingestBenchmarks } from "./ingest.ts";
import { integrityBenchmarks } from "./integrity.ts";
import { ladderBenchmarks } from "./ladder.ts";
import { lightBenchmarks } from "./light.ts";
import { listBenchmarks } from "./lists.ts";
import { nativeBenchmarks } from "./native.ts";
import { probeBenchmarks } from "./probe.ts";
import { s3Benchmarks } from "./s3.ts";
import { scaleBenchmarks } from "./scale-simulation.ts";
import { sseBenchmarks } from "./sse.ts";
import { webhookBenchmarks } from "./webhooks.ts";

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  ...apiBenchmarks,
  ...listBenchmarks,
  ...sseBenchmarks,
  ...webhookBenchmarks,
  ...probeBenchmarks,
  ...ingestBenchmarks,
  ...s3Benchmarks,
  ...lightBenchmarks,
  ...nativeBenchmarks,
  ...integrityBenchmarks,
  ...ladderBenchmarks,
  ...chunkedBenchmarks,
  ...scaleBenchmarks,
];
