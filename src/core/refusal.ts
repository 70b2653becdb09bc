import { z } from "zod";
import { FEATURE_REFUSALS } from "../media/features.ts";

const bytes = z.int().min(0);
const seconds = z.number().min(0);
const pixels = z.int().min(1);
const track = z.enum(["video", "audio"]);

function refusal<const C extends string, F extends z.core.$ZodLooseShape>(code: C, facts: F) {
  return z.object({ encoder: z.string(), code: z.literal(code), ...facts });
}

/** Why an encoder does not do a piece of work: a code from a closed set, with its facts. */
export const Refusal = z
  .discriminatedUnion("code", [
    // The work is not the encoder's.
    refusal("other_work", {}),
    refusal("needs_encoding", { track }),
    refusal("animated", {}),
    // The source.
    refusal("input_format", { format: z.string() }),
    refusal("input_codec", { codec: z.string() }),
    refusal("input_depth", { codec: z.string(), bit_depth: z.int() }),
    refusal("input_transparent", {}),
    refusal("picture_times", { codec: z.string() }),
    refusal("unknown_duration", {}),
    // The output.
    refusal("output_codec", { codec: z.string() }),
    refusal("output_format", { format: z.string(), animated: z.boolean() }),
    refusal("output_quality", { format: z.string() }),
    refusal("output_transparent", { format: z.string() }),
    refusal("output_repeats", { format: z.string() }),
    refusal("output_bytes", {}),
    refusal("output_too_small", { codec: z.string(), min_side: pixels }),
    refusal("output_size", { codec: z.string(), width: pixels, height: pixels }),
    // What has to be done to the pictures and the sound.
    z.object({ encoder: z.string(), code: z.literal(FEATURE_REFUSALS) }),
    refusal("bit_depth", { max_depth: z.int() }),
    // Memory and time.
    refusal("memory", { needed_bytes: bytes, available_bytes: bytes }),
    refusal("input_memory", { needed_bytes: bytes, available_bytes: bytes }),
    refusal("pixels", { pixels, max_pixels: pixels }),
    refusal("time", { seconds, max_seconds: seconds }),
    refusal("chunk_time", { seconds, max_seconds: seconds }),
    refusal("slower", { seconds, than_seconds: seconds }),
    // The host.
    refusal("not_configured", {}),
    refusal("not_loaded", {}),
    refusal("not_isolated", {}),
    refusal("not_tried", {}),
    refusal("no_webcodecs", {}),
    refusal("no_canvas", {}),
    refusal("canvas_altered", {}),
    refusal("no_sound_encoder", {}),
  ])
  .meta({
    id: "Refusal",
    description: "Why an encoder does not do a piece of work: a code from a closed set, with its facts.",
  });
/** Why an encoder does not do a piece of work: a code from a closed set, with its facts. */
export type Refusal = z.infer<typeof Refusal>;

type WithoutEncoder<T> = T extends unknown ? Omit<T, "encoder"> : never;

/** A {@link Refusal} before it is known by which name a host has the encoder. */
export type RefusalReason = WithoutEncoder<Refusal>;

/** Codes of encoders that were never meant for the work, or that a host need not have: they explain nothing to a person. */
export const OTHER_WORK: ReadonlySet<Refusal["code"]> = new Set([
  "other_work",
  "needs_encoding",
  "not_loaded",
]);
