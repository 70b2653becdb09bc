import type { Chunk, Plan } from "../../media/plan.ts";

/**
 * Names what ffmpeg decodes for a chunk: chunks of one source that have the same key can be encoded by one run, which decodes its
 * pictures once. Null for a chunk that needs a run of its own.
 */
export function decodeKey(plan: Plan, chunk: Chunk): string | null {
  const { kind, video, audio, speed = 1 } = plan;
  if (kind !== "video" || video?.mode !== "encode" || chunk.track !== "all") return null;
  // Further files are inputs too, and loudness is measured by a run before.
  const leveled = audio?.mode === "encode" && audio.shape?.loudness !== undefined;
  if (plan.concat || video.overlay || (plan.further ?? []).length > 0 || leveled) return null;
  const { start, end, decode_from = start, shown_from = start } = chunk;
  return JSON.stringify([start, end, decode_from, shown_from, speed]);
}
