import { MediaError } from "../../core/errors.ts";
import { MIB } from "../../util/bytes.ts";
import { PageMiss } from "../core/paged-file.ts";
import { createRunLog } from "../core/run-log.ts";
import type { WasmCore } from "../core/wasm-core.ts";
import { createWasi, Exit } from "./wasi.ts";
import { createWasiFiles } from "./wasi-files.ts";

export interface FastCoreOptions {
  /** The compiled core of this project. */
  module: WebAssembly.Module;
  /** Limit in bytes on heap, input and output together. */
  memory: number;
  /** Receives each line that a run prints, while it runs. */
  onLine?: (line: string) => void;
  /** Modifies the functions that the core imports, before it is instantiated. */
  guard?: (imports: Record<string, Record<string, unknown>>) => void;
}

const PAGE = 65_536;
// What the core is linked with (core/compile.sh): its data, its stack of 5 MiB, and room to begin in.
const INITIAL = 32 * MIB;
const INITIAL_PAGES = INITIAL / PAGE;

/**
 * Creates a core from this project's own build of ffmpeg. Every run has an instance of its own, so nothing that one leaves
 * behind reaches the next. It has no ffprobe.
 */
export function createFastCore(options: FastCoreOptions): WasmCore {
  const { module, memory: limit, onLine = () => {}, guard = () => {} } = options;
  let held = 0;
  let heap = 0;
  const files = createWasiFiles((bytes) => {
    held += bytes;
    if (bytes > 0 && heap + held > limit) throw outOfMemory(limit);
  });

  return {
    get heap() {
      return heap;
    },
    mount(path, file) {
      held += file.held;
      files.mount(path, file);
    },
    makeFolder: (path) => files.makeFolder(path),
    take: (folder) => files.take(folder),
    exec(args) {
      const maximum = Math.floor((limit - held) / PAGE);
      if (maximum < INITIAL_PAGES) throw outOfMemory(limit);
      const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum });
      heap = INITIAL;
      const log = createRunLog();
      const lines = splitLines((line) => {
        log.add(line);
        onLine(line);
      });
      const wasi = createWasi({
        args: ["ffmpeg", "-nostdin", "-y", "-hide_banner", ...args],
        ...{ memory, files, print: lines.add },
      });
      try {
        const imports = {
          env: { memory },
          framewright: {
            out_of_memory() {
              throw outOfMemory(limit);
            },
          },
          wasi_snapshot_preview1: wasi,
        };
        guard(imports);
        const { exports } = new WebAssembly.Instance(module, imports);
        (exports._start as () => void)();
        lines.end();
        return { code: 0, log: log.lines };
      } catch (thrown) {
        lines.end();
        if (thrown instanceof MediaError || thrown instanceof PageMiss) throw thrown;
        if (thrown instanceof Exit) return { code: thrown.code, log: log.lines };
        const summary = log.summary();
        const detail = summary ? ` Its last words: ${summary}` : "";
        throw new MediaError("encode_failed", `The encoder broke down on this file.${detail}`, {
          cause: thrown,
        });
      } finally {
        heap = memory.buffer.byteLength;
      }
    },
    ffprobe() {
      throw new MediaError("probe_failed", "The fast core cannot probe files.");
    },
  };
}

function outOfMemory(limit: number): MediaError {
  const message = `The work needs more memory than the ${Math.round(limit / MIB)} MB that this encoder has.`;
  return new MediaError("out_of_memory", message);
}

// ffmpeg ends the state that the next one overwrites with a carriage return.
function splitLines(onLine: (line: string) => void): { add(bytes: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder();
  let rest = "";
  return {
    add(bytes) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split(/[\r\n]/);
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    },
    end() {
      if (rest) onLine(rest);
      rest = "";
    },
  };
}
