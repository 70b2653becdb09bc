import { concatBytes } from "./bytes.ts";

/** Expands zlib data; null for damaged data, and for more than `maxBytes`, because a small file may expand to any size. */
export async function inflate(data: Uint8Array, maxBytes: number): Promise<Uint8Array | null> {
  const stream = new Blob([new Uint8Array(data)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      size += value?.length ?? 0;
      if (!value || size > maxBytes) return null;
      parts.push(value);
    }
    return concatBytes(parts);
  } catch {
    return null;
  } finally {
    reader.cancel().catch(() => {});
  }
}
