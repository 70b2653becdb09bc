import { z } from "zod";
import { FEATURE_REFUSALS } from "./features.ts";

const bytes = z.int().min(0);
const seconds = z.number().min(0);
const pixels = z.int().min(1);
const track = z.enum(["video", "audio"]);

function refusal<const C extends string, F extends z.core.$ZodLooseShape>(code: C, facts: F) {
  return z.object({ encoder: z.string(), code: z.literal(code), ...facts });
}

/** Why an encoder refused the work: a code from a closed set, with its facts. */
export const Refusal = z
  .discriminatedUnion("code", [
    refusal("other_work", {}),
    refusal("needs_encoding", { track }),
    refusal("animated", {}),
    refusal("input_format", { format: z.string() }),
    refusal("input_codec", { codec: z.string() }),
    refusal("input_depth", { codec: z.string(), bit_depth: z.int() }),
    refusal("input_transparent", {}),
    refusal("picture_times", { codec: z.string() }),
    refusal("unknown_duration", {}),
    refusal("output_codec", { codec: z.string() }),
    refusal("output_format", { format: z.string(), animated: z.boolean() }),
    refusal("output_quality", { format: z.string() }),
    refusal("output_transparent", { format: z.string() }),
    refusal("output_repeats", { format: z.string() }),
    refusal("output_bytes", {}),
    refusal("output_too_small", { codec: z.string(), min_side: pixels }),
    refusal("output_size", { codec: z.string(), width: pixels, height: pixels }),
    z.object({ encoder: z.string(), code: z.literal(FEATURE_REFUSALS) }),
    refusal("bit_depth", { max_depth: z.int() }),
    refusal("memory", { needed_bytes: bytes, available_bytes: bytes }),
    refusal("input_memory", { needed_bytes: bytes, available_bytes: bytes }),
    refusal("pixels", { pixels, max_pixels: pixels }),
    refusal("time", { seconds, max_seconds: seconds }),
    refusal("chunk_time", { seconds, max_seconds: seconds }),
    refusal("slower", { seconds, than_seconds: seconds }),
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
    description:
      "The reason why an encoder refuses a piece of work: a code from a closed set, with its facts.",
  });
/** Why an encoder refused the work: a code from a closed set, with its facts. */
export type Refusal = z.infer<typeof Refusal>;

type WithoutEncoder<T> = T extends unknown ? Omit<T, "encoder"> : never;

/** A {@link Refusal} without the name under which a host knows the encoder. */
export type RefusalReason = WithoutEncoder<Refusal>;

/** Codes of encoders not meant for the work, or that a host need not have: they explain nothing to a person. */
export const OTHER_WORK: ReadonlySet<Refusal["code"]> = new Set([
  "other_work",
  "needs_encoding",
  "not_loaded",
]);

/** The encoder that does the work, and why. */
export const EncoderChoice = z
  .object({
    encoder: z.string().meta({ example: "native" }),
    reason: z
      .string()
      .meta({ description: "A short sentence that says why.", example: "Faster here: 8 s, not 16 s." }),
    refusals: z.array(Refusal).optional().meta({
      description: "The reasons why preferred encoders do not do the work; absent if none refused.",
    }),
  })
  .meta({ id: "EncoderChoice" });
/** The encoder that does the work, and why. */
export type EncoderChoice = z.infer<typeof EncoderChoice>;

/** The encoder of a plan, how the plan is cut for it, and why. Plain data, stored with the run. */
export interface Decision {
  /** Name of the encoder. */
  encoder: string;
  /** Seconds of source per chunk; null when the plan stays uncut. */
  chunk_seconds: number | null;
  /** Estimated seconds until the output is ready; null when unknown. */
  seconds: number | null;
  reason: DecisionReason;
  /** The number of the job's outputs, including this one, that share one decoding on that encoder; absent for a single one. */
  together?: number;
  /** Why the encoders that the host prefers did not get the work. */
  refusals: Refusal[];
}

/** Why a decision chose its encoder. */
export type DecisionReason =
  /** Nothing is re-encoded. */
  | { code: "copied" }
  /** Only the pictures around cuts are encoded. */
  | { code: "spliced" }
  /** Joined videos: the pictures are copied, and the audio is encoded. */
  | { code: "joined" }
  /** Another encoder could do the work too, but would take longer. */
  | { code: "faster"; seconds: number; than_seconds: number; chunks: number }
  /** The encoder can encode chunks of the plan in parallel. */
  | { code: "chunked"; chunks: number; at_once: number }
  /** The preferred encoders refused. */
  | { code: "refused" }
  /** The encoder is the one that the host prefers. */
  | { code: "preferred"; seconds: number | null };
