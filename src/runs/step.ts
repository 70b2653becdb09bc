import { z } from "zod";
import { ErrorReason } from "../media/error-reason.ts";
import { ERROR_KINDS, FALLBACK_FAULTS, type MediaError } from "../media/errors.ts";
import { withoutKey } from "../media/features/encryption.ts";
import { timestamp } from "../media/fields.ts";
import { STEP_KINDS, type StepKind } from "../media/formats.ts";
import type { OptionsOf } from "../media/options.ts";
import { Refusal } from "../media/refusal.ts";
import { ExternalFile, Source } from "../media/source.ts";
import type { CreateId } from "./ids.ts";

/** The states of a step; the last three are terminal. */
export const STEP_STATUSES = ["waiting", "processing", "succeeded", "failed", "cancelled"] as const;
/** The state of a step. */
export type StepStatus = (typeof STEP_STATUSES)[number];

/** Why a task or step failed. */
export const RunError = z
  .object({
    kind: z.enum(ERROR_KINDS),
    message: z.string(),
    step_id: z.string().optional(),
    retryable: z.boolean().meta({ description: "True when another attempt may succeed." }),
    reason: ErrorReason.optional().meta({
      description: "Distinguishes the error from others of its kind.",
    }),
    refusals: z.array(Refusal).optional().meta({
      description:
        "The reason of each encoder for refusing the work; only with the kind encoder_unavailable.",
    }),
    fallback: z
      .enum(FALLBACK_FAULTS)
      .optional()
      .meta({
        description:
          "Only from a page with a fallback: why the fallback did not do the work. standalone_step: it runs only tasks; " +
          "missing: the page no longer has one; failed: it could not be reached, refused the task or did not get its file.",
      }),
  })
  .meta({ id: "RunError" });
/** Why a task or step failed. */
export type RunError = z.infer<typeof RunError>;

const record = z
  .object({
    id: z.string().meta({ example: "step_01kbb1d3x4e8v0t6m9q2y5z7aw" }),
    object: z.literal("step"),
    kind: z.enum(STEP_KINDS),
    input: z.union([Source, ExternalFile]).nullable(),
    output: Source.nullable(),
    options: z.record(z.string(), z.unknown()),
    status: z.enum(STEP_STATUSES),
    progress: z
      .int()
      .min(0)
      .max(100)
      .nullable()
      .meta({ description: "Percentage of the step, 0 to 100; null until it can be measured." }),
    error: RunError.nullable(),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    updated_at: timestamp,
  })
  .meta({ id: "Step" });
type AnyStep = z.infer<typeof record>;

/** The fields that distinguish a new step; a step inside a task has no options of its own. */
export type StepStart = {
  [K in StepKind]: { kind: K; input: AnyStep["input"]; options: Partial<OptionsOf<K>> };
}[StepKind];

/** One operation, part of a task or standalone. The options are validated on creation, not when a record is read back. */
export const Step = record as unknown as z.ZodType<Step>;
/** One operation, part of a task or standalone; its kind determines its options. */
export type Step = Omit<AnyStep, keyof StepStart> & StepStart;

/** Returns the part of an error that a run's record stores. */
export function runErrorOf(error: MediaError): Omit<RunError, "step_id"> {
  const { kind, message, retryable, reason, refusals } = error;
  return {
    kind,
    message,
    retryable,
    ...(reason && { reason }),
    ...(refusals.length > 0 && { refusals: [...refusals] }),
  };
}

/** Creates a waiting step; its record omits any encryption key in the options. */
export function createStep(start: StepStart, id: CreateId, now: number): Step {
  return {
    id: id("step", now),
    object: "step",
    ...withoutKey(start),
    output: null,
    status: "waiting",
    progress: null,
    error: null,
    created_at: now,
    started_at: null,
    finished_at: null,
    updated_at: now,
  };
}
