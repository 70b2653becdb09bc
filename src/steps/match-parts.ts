import type { EncodeRequest } from "../core/options.ts";
import type { ByteReader, StepContext } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { readJoint } from "../mux/join-mp4.ts";
import { asksJoint, type Joint } from "../plan/further/join.ts";
import { furtherKey } from "./media-keys.ts";

interface Parts {
  /** Where the input is. */
  key: string;
  source: Source;
  wanted: EncodeRequest;
  further: readonly Source[];
}

/**
 * Finds out, once per run, whether the pictures of joined videos can be copied. Reads their indexes only where nothing else speaks
 * against it; null where the pictures are encoded anyway.
 */
export async function matchParts(
  open: (key: string) => Promise<ByteReader>,
  { key, source, wanted, further }: Parts,
  context: StepContext,
): Promise<Joint | null> {
  if (wanted.kind !== "video") return null;
  const { options } = wanted;
  const asked = asksJoint(source, options, further);
  if (asked !== true) return asked || null;
  return context.durably("match", async (signal) => {
    const keys = [key, ...(options.concat ?? []).map((_, at) => furtherKey(context.run_id, at))];
    return readJoint(await Promise.all(keys.map(open)), signal);
  });
}
