import { apiBenchmarks } from "./api.ts";
import type { Benchmark } from "./benchmark.ts";
import { ingestBenchmarks } from "./ingest.ts";
import { lightBenchmarks } from "./light.ts";
import { probeBenchmarks } from "./probe.ts";

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  ...apiBenchmarks,
  ...probeBenchmarks,
  ...ingestBenchmarks,
  ...lightBenchmarks,
];
