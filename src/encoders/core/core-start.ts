import { MediaError } from "../../core/errors.ts";
import type { CoreModule, CreateCore, Instantiate, ThreadOptions } from "./core-module.ts";

export interface StartedCore {
  core: CoreModule;
  exports: Record<string, unknown>;
}

/** What a threaded core needs to start, besides its glue. */
export interface ThreadStart extends ThreadOptions {
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
        // The glue offers no way to report a failure here, so reject the promise around it.
        Promise.resolve(instantiate(imports))
          .then((instance) => {
            exports = instance.exports;
            done(instance, module);
          })
          .catch(reject);
        return {};
      },
    }).then(resolve, reject);
  }).catch((cause: unknown) => {
    throw new MediaError("worker_lost", "The encoder could not be started.", { cause });
  });
  return { core, exports };
}

/**
 * Returns whether a run threw its normal exit: the core leaves main() through abort(), which its glue turns into an error
 * with this text.
 */
export function isExit(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith("Aborted().");
}
