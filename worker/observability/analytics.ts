import { logFault } from "./log.ts";
import type { Observation } from "./metrics.ts";

/** A dataset of Analytics Engine, as far as it is used here. */
export interface Dataset {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void;
}

/**
 * Writes what was measured to Analytics Engine, where a dataset is bound: the index is the project, the blobs are the metric and its labels
 * in their order, the double is the value. It is written without waiting, and a fault of it is not the run's.
 */
export function writePoints(
  dataset: Dataset | undefined,
  project: string,
  observations: readonly Observation[],
): void {
  if (!dataset) return;
  try {
    for (const { metric, labels, value } of observations) {
      // An index has at most 96 bytes, and the name of a project at most 64.
      dataset.writeDataPoint({ indexes: [project], blobs: [metric, ...labels], doubles: [value] });
    }
  } catch (thrown) {
    logFault("analytics failed", thrown, { project });
  }
}
