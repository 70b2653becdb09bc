import { MediaError } from "../core/errors.ts";
import type { CoreImports, CoreModule, CoreNode } from "./core-module.ts";
import { createRunLog } from "./run-log.ts";
import type { RunResult, WasmCore } from "./wasm-core.ts";

/** What a threaded core is made of. */
export interface MtCoreOptions {
  /** The default export of `ffmpeg-core.js` of `@ffmpeg/core-mt`. */
  createCore(options: object): Promise<CoreModule>;
  module: WebAssembly.Module;
  /** URLs of the glue and of `ffmpeg-core.worker.js`, which its threads load. */
  glue: string;
  threads: string;
  /** Bytes of its memory, which is shared by its threads and fixed. */
  memory: number;
  /** Changes what the core calls of its glue, before it is instantiated. */
  guard?: (imports: CoreImports) => void;
  /** Is told each line that a run prints, while it runs. */
  onLine?: (line: string) => void;
}

const PAGE = 65_536;

/**
 * Starts a threaded core for one job: it has no stack of its own making and its memory does not grow, so nothing runs in it a
 * second time. It has no ffprobe.
 */
export async function createMtCore(options: MtCoreOptions): Promise<WasmCore> {
  const { module, glue, threads, memory } = options;
  const core = await options
    .createCore({
      // The glue looks for the URL of its threads' code here.
      mainScriptUrlOrBlob: `${glue}#${btoa(JSON.stringify({ wasmURL: "", workerURL: threads }))}`,
      INITIAL_MEMORY: Math.floor(memory / PAGE) * PAGE,
      instantiateWasm(
        imports: CoreImports,
        done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
      ) {
        options.guard?.(imports);
        void WebAssembly.instantiate(module, imports as WebAssembly.Imports).then((instance) =>
          done(instance, module),
        );
        return {};
      },
    })
    .catch((cause: unknown) => {
      throw new MediaError("worker_lost", "The threaded encoder could not be started.", { cause });
    });
  let used = false;

  return {
    heap: memory,
    mount(path, file) {
      const cut = path.lastIndexOf("/");
      const { WORKERFS } = core.FS.filesystems;
      WORKERFS.reader = { readAsArrayBuffer: (slice: { read(): Uint8Array }) => slice.read() };
      const slice = (start: number, end: number) => {
        const stop = Math.min(end, file.size);
        return { size: stop - start, read: () => file.read(start, stop) };
      };
      core.FS.mkdir(path.slice(0, cut));
      const data = { size: file.size, slice };
      core.FS.mount(WORKERFS, { blobs: [{ name: path.slice(cut + 1), data }] }, path.slice(0, cut));
    },
    exec(args): RunResult {
      if (used) throw new MediaError("encode_failed", "The threaded encoder has served its time.");
      used = true;
      const log = createRunLog();
      core.setLogger(({ message }) => {
        log.add(message);
        options.onLine?.(message);
      });
      core.reset();
      const all = [...core.DEFAULT_ARGS, "-hide_banner", ...args];
      try {
        core._ffmpeg(all.length, core.stringsToPtr(all));
      } catch (thrown) {
        if (thrown instanceof MediaError) throw thrown;
        if (!(thrown instanceof Error && thrown.message.startsWith("Aborted"))) throw broke(thrown);
      }
      if (core.ret === -1) throw broke("no exit code");
      return { code: core.ret, log: log.lines };
    },
    ffprobe() {
      throw new MediaError("probe_failed", "The threaded encoder does not look into files.");
    },
    makeFolder: (path) => core.FS.mkdir(path),
    take: (folder) =>
      core.FS.readdir(folder)
        .filter((name) => name !== "." && name !== "..")
        .map((name) => ({ name, bytes: bytesOf(core.FS.lookupPath(`${folder}/${name}`).node) })),
  };
}

function bytesOf({ contents, usedBytes }: CoreNode): Uint8Array {
  if (!ArrayBuffer.isView(contents)) return new Uint8Array();
  return new Uint8Array(contents.buffer, contents.byteOffset, usedBytes).slice();
}

function broke(cause: unknown): MediaError {
  return new MediaError("encode_failed", "The threaded encoder broke down on this file.", { cause });
}
