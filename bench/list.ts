import { apiBenchmarks } from "./api.ts";
import type { Benchmark } from "./benchmark.ts";
import { chunkedBenchmarks } from "./chunked.ts";
import { ingestBenchmarks } from "./ingest.ts";
import { ladderBenchmarks } from "./ladder.ts";
import { lightBenchmarks } from "./light.ts";
import { nativeBenchmarks } from "./native.ts";
import { probeBenchmarks } from "./probe.ts";
import { scaleBenchmarks } from "./scale-simulation.ts";

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  ...apiBenchmarks,
  ...probeBenchmarks,
  ...ingestBenchmarks,
  ...lightBenchmarks,
  ...nativeBenchmarks,
  ...ladderBenchmarks,
  ...chunkedBenchmarks,
  ...scaleBenchmarks,
];
