import { MIB } from "../../util/bytes.ts";

const OUT_BYTES = MIB;

/** Collects pieces of any size and passes them on in large copies. */
export interface Gatherer {
  add(bytes: Uint8Array): Promise<void>;
  flush(): Promise<void>;
}

export function createGatherer(write: (bytes: Uint8Array) => Promise<void>): Gatherer {
  let buffer = new Uint8Array(OUT_BYTES);
  let used = 0;
  const flush = async () => {
    const full = buffer.subarray(0, used);
    if (used === 0) return;
    buffer = new Uint8Array(OUT_BYTES);
    used = 0;
    await write(full);
  };
  return {
    async add(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const piece = bytes.subarray(at, at + OUT_BYTES - used);
        buffer.set(piece, used);
        used += piece.length;
        at += piece.length;
        if (used === OUT_BYTES) await flush();
      }
    },
    flush,
  };
}
