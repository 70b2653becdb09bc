import type { Update } from "../client/client.ts";
import { paceOf } from "../client/progress.ts";
import { isFinished } from "../core/transitions.ts";
import type { Run } from "./media-api.ts";

/** Tells the pace of a run from its records, which come one after the other. */
export type Pace = (record: Run) => Pick<Update<Run>, "speed" | "eta">;

const NONE = { speed: null, eta: null };
// What the newest measure counts: a chunk that ends in one go does not make the figures jump.
const NEWEST = 0.3;
// Seconds from its start in which a step has been watched from the start.
const FRESH = 30;

/**
 * Builds a {@link Pace} that is smooth: it averages what it sees itself, so that the time a page was closed counts for nothing. Before it
 * has seen two moments it says nothing.
 */
export function createPace(): Pace {
  let first: { at: number; progress: number; id: string } | null = null;
  let rate: number | null = null;
  return (record) => {
    if (isFinished(record)) return NONE;
    const steps = record.object === "task" ? record.steps : [record];
    const step = steps.find(({ status }) => status === "processing");
    const told = paceOf(record);
    if (!step?.progress || told.eta === null) return NONE;
    const progress = step.progress / 100;
    const at = step.updated_at / 1000;
    if (first?.id !== step.id) {
      first = { at, progress, id: step.id };
      rate = null;
      // Work that has just begun is told by its own start.
      const began = (step.started_at ?? step.updated_at) / 1000;
      if (at - began < FRESH) first = { at: began, progress: 0, id: step.id };
    }
    const seen =
      at > first.at && progress > first.progress ? (progress - first.progress) / (at - first.at) : null;
    if (seen === null) return NONE;
    rate = rate === null ? seen : rate + (seen - rate) * NEWEST;
    const media = told.speed === null || progress >= 1 ? null : (told.speed * told.eta) / (1 - progress);
    return {
      speed: media === null ? null : media * rate,
      eta: (1 - progress) / rate,
    };
  };
}
