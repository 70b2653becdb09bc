import { z } from "zod";
import { ErrorReason } from "../../core/error-reason.ts";
import { ERROR_KINDS, MediaError } from "../../core/errors.ts";
import type { NativeState } from "./native-wire.ts";

// A path relative to the job's folder: no empty segment, no `..`, nothing special in a URL.
const name = z
  .string()
  .max(512)
  .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/);
const mime = z
  .string()
  .max(128)
  .regex(/^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=[\w.+-]+)*$/);

const count = z.int().min(0);

const State = z.discriminatedUnion("state", [
  z.object({
    state: z.literal("running"),
    share: z.number().min(0).max(1),
    speed: z.number().min(0).nullable(),
  }),
  z.object({
    state: z.literal("done"),
    written: z
      .array(
        z.object({
          name,
          mime,
          size: z.int().min(1),
          samples: count.exactOptional(),
          lead: count.exactOptional(),
        }),
      )
      .min(1),
    playlists: z.array(z.object({ name, mime, text: z.string().min(1) })),
    tally: z.object({
      pictures: z
        .object({
          decoded: count,
          missing: count,
          missing_at: z.number().nullable(),
          late_start: z.boolean(),
          unreadable: count,
        })
        .exactOptional(),
      sound: z.number().min(0).exactOptional(),
      silenced: z.number().min(0).exactOptional(),
      heard: z.object({ from: z.number().min(0), until: z.number().min(0) }).exactOptional(),
    }),
  }),
  z.object({
    state: z.literal("failed"),
    error: z.object({
      kind: z.enum(ERROR_KINDS),
      message: z.string().min(1).max(2000),
      retryable: z.boolean(),
      reason: ErrorReason.exactOptional(),
    }),
  }),
]) satisfies z.ZodType<NativeState>;

/**
 * Parses a state as received. Throws `worker_lost` for anything malformed, and for files that the job did not ask for: it
 * must have one file called `wanted`, or, for adaptive video (null), distinct names.
 */
export function parseNativeState(text: string, wanted: string | null): NativeState {
  const parsed = State.safeParse(parseJson(text));
  if (!parsed.success) throw nonsense();
  const state = parsed.data;
  if (state.state !== "done") return state;
  const names = [...state.written, ...state.playlists].map((file) => file.name);
  const right = wanted === null ? new Set(names).size === names.length : names.join() === wanted;
  if (!right) throw nonsense();
  return state;
}

/** Parses JSON; null when it is malformed. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function nonsense(): MediaError {
  return new MediaError("worker_lost", "The native encoder's answer is malformed.");
}
