import type { Benchmark } from "../benchmark.ts";
import { coreBytesBenchmarks } from "./core-bytes.ts";
import { firstProgressBenchmarks } from "./first-progress.ts";
import { imagesBenchmarks } from "./images.ts";
import { previewBenchmarks } from "./preview.ts";
import { probeBenchmarks } from "./probe.ts";
import { qualityBenchmarks } from "./quality.ts";
import { soundBenchmarks } from "./sound.ts";
import { speedBenchmarks } from "./speed.ts";
import { trimBenchmarks } from "./trim.ts";
import { workbenchBenchmarks } from "./workbench.ts";

/** All benchmarks in a browser, in the order in which they run. */
export const BROWSER_BENCHMARKS: readonly Benchmark[] = [
  ...qualityBenchmarks,
  ...speedBenchmarks,
  ...probeBenchmarks,
  ...coreBytesBenchmarks,
  ...firstProgressBenchmarks,
  ...trimBenchmarks,
  ...imagesBenchmarks,
  ...soundBenchmarks,
  ...workbenchBenchmarks,
  ...previewBenchmarks,
];
