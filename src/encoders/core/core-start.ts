import { MediaError } from "../../core/errors.ts";
import type { CoreModule, CreateCore, Instantiate, ThreadOptions } from "./core-module.ts";

/** A core that was started, and what its wasm exports. */
export interface StartedCore {
  core: CoreModule;
  exports: Record<string, unknown>;
}

/** What a core is started with beside its glue, when it has threads. */
export interface ThreadStart extends ThreadOptions {
  /** The compiled wasm, of which each thread makes an instance. */
  module: WebAssembly.Module;
}

/** Starts a core; rejects with `worker_lost`. */
export async function startCore(
  createCore: CreateCore,
  instantiate: Instantiate,
  threads?: ThreadStart,
): Promise<StartedCore> {
  const { module, ...options } = threads ?? {};
  let exports: Record<string, unknown> = {};
  const core = await new Promise<CoreModule>((resolve, reject) => {
    createCore({
      ...options,
      locateFile: (path) => path,
      instantiateWasm(imports, done) {
        // The glue has no way to hear of a failure here, so the promise around it ends instead.
        Promise.resolve(instantiate(imports)).then((instance) => {
          exports = instance.exports;
          done(instance, module);
        }, reject);
        return {};
      },
    }).then(resolve, reject);
  }).catch((cause: unknown) => {
    throw new MediaError("worker_lost", "The encoder could not be started.", { cause });
  });
  return { core, exports };
}

/** Whether what a run threw is its usual end: the core leaves its main function by abort(), which its glue turns into an error with this text. */
export function isExit(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith("Aborted().");
}
