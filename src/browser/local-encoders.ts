import { createCopyEncoder } from "../encoders/copy.ts";
import { loadCore } from "../encoders/core-load.ts";
import { createWasmPool, type WasmPool } from "../encoders/wasm-pool.ts";
import { createWebCodecsEncoder } from "../encoders/webcodecs.ts";
import type { LocalEncoder } from "./choose-way.ts";
import type { MediaSettings } from "./media-api.ts";

/** The encoders of this machine. */
export interface LocalEncoders {
  /** In the order in which they are asked. */
  ordered: LocalEncoder[];
  /** The one that also looks into files. */
  pool: WasmPool;
}

/** Creates the encoders of this machine, in the order that the preference says: what copies comes first in any case. */
export function createLocalEncoders({ prefer, encoder_workers, core }: MediaSettings): LocalEncoders {
  const load = () => loadCore({ ...core });
  const pool = createWasmPool({ load, ...(encoder_workers !== null && { workers: encoder_workers }) });
  const webcodecs: LocalEncoder = createWebCodecsEncoder({ sound: pool });
  const copy: LocalEncoder = createCopyEncoder();
  const rest = prefer === "speed" ? [webcodecs, pool] : [pool, webcodecs];
  return { ordered: [copy, ...rest], pool };
}
