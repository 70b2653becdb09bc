import { MediaError } from "../../core/errors.ts";
import { MIB } from "../../util/bytes.ts";
import { PageMiss } from "../core/paged-file.ts";
import { createRunLog } from "../core/run-log.ts";
import type { WasmCore } from "../core/wasm-core.ts";
import type { Spill } from "./output-file.ts";
import { createWasi, Exit } from "./wasi.ts";
import { createWasiFiles, type WasiFiles } from "./wasi-files.ts";

export interface FastCoreOptions {
  /** The compiled core of this project. */
  module: WebAssembly.Module;
  /** Limit in bytes on heap, input and output together. */
  memory: number;
  /** Receives each line that a run prints, while it runs. */
  onLine?: (line: string) => void;
  /**
   * Returns the memory for a run, with room for {@link FastCoreOptions.memory}; the core fills in its data itself.
   *
   * @default a new one each time
   */
  takeMemory?: () => WebAssembly.Memory;
  /**
   * Moves the blocks of large outputs out of memory, while they are written.
   *
   * @default outputs stay in memory
   */
  spill?: Spill;
  /** Modifies the functions that the core imports, before it is instantiated. */
  guard?: (imports: Record<string, Record<string, unknown>>) => void;
}

/** The fast core with its files. */
export interface FastCore extends WasmCore {
  readonly files: WasiFiles;
}

const PAGE = 65_536;
// What the core is linked with (core/compile.sh): its data, its stack of 5 MiB, and room to begin in.
const INITIAL = 32 * MIB;
// malloc asks for single pages, and each growth takes its time.
const STEP = MIB;
const NONE_LEFT = "There is no memory left for the encoder.";

/** Creates a memory for the core that can grow up to a limit in bytes; throws `out_of_memory`. */
export function createFastMemory(limit: number): WebAssembly.Memory {
  const maximum = Math.floor(limit / PAGE);
  if (maximum < INITIAL / PAGE) throw outOfMemory(limit);
  try {
    return new WebAssembly.Memory({ initial: INITIAL / PAGE, maximum });
  } catch (cause) {
    throw new MediaError("out_of_memory", NONE_LEFT, { cause });
  }
}

/**
 * Creates a core from this project's own build of ffmpeg. Every run has an instance of its own, so nothing that one leaves
 * behind reaches the next. It has no ffprobe.
 */
export function createFastCore(options: FastCoreOptions): FastCore {
  const { module, memory: limit, onLine = () => {}, guard = () => {} } = options;
  const { takeMemory = () => createFastMemory(limit) } = options;
  let held = 0;
  let heap = 0;
  const files = createWasiFiles((bytes) => {
    held += bytes;
    if (bytes > 0) check(heap);
  }, options.spill);

  function check(heapBytes: number): void {
    if (heapBytes + held > limit) throw outOfMemory(limit);
  }

  return {
    get heap() {
      return heap;
    },
    mount(path, file) {
      held += file.held;
      files.mount(path, file);
    },
    makeFolder: (path) => files.makeFolder(path),
    pour: (path, onBytes) => files.pour(path, onBytes),
    take: (folder) => files.take(folder),
    files,
    exec(args) {
      check(INITIAL);
      const memory = takeMemory();
      heap = memory.buffer.byteLength;
      check(heap);
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
            grow(pages: number) {
              check(heap + pages * PAGE);
              const room = Math.floor((limit - held - heap) / PAGE);
              grow(memory, Math.max(pages, Math.min(STEP / PAGE, room)));
              heap = memory.buffer.byteLength;
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
      }
    },
    ffprobe() {
      throw new MediaError("probe_failed", "The fast core cannot probe files.");
    },
  };
}

function grow(memory: WebAssembly.Memory, pages: number): void {
  try {
    memory.grow(pages);
  } catch (cause) {
    throw new MediaError("out_of_memory", NONE_LEFT, { cause });
  }
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
