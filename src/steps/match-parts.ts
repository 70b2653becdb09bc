import type { EncodeRequest } from "../core/options.ts";
import type { ByteReader, StepContext } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { readCopyJoin } from "../encoders/stitch/join-mp4.ts";
import { type CopyJoin, canJoinByCopy } from "../media/features/concat-plan.ts";
import { furtherKey } from "./media-keys.ts";

interface Parts {
  /** Where the input is. */
  key: string;
  source: Source;
  wanted: EncodeRequest;
  extra: readonly Source[];
}

/**
 * Finds out, once per run, whether the pictures of joined videos can be copied. Reads their indexes only where nothing else speaks
 * against it; null where the pictures are encoded anyway.
 */
export async function matchParts(
  open: (key: string) => Promise<ByteReader>,
  { key, source, wanted, extra }: Parts,
  context: StepContext,
): Promise<CopyJoin | null> {
  if (wanted.kind !== "video") return null;
  const { options } = wanted;
  const join = canJoinByCopy(source, options, extra);
  if (join !== true) return join || null;
  return context.durably("match", async (signal) => {
    const keys = [key, ...(options.concat ?? []).map((_, at) => furtherKey(context.run_id, at))];
    return readCopyJoin(await Promise.all(keys.map(open)), signal);
  });
}
