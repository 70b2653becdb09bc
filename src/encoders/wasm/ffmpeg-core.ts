import { parseProgress } from "../../media/ffmpeg/run-log.ts";
import { MIB } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import { createBlobFile } from "./blob-file.ts";
import { createFastCore, Exit } from "./fast-core.ts";

/** Options that `@ffmpeg/ffmpeg` passes to a core: the URL of its script, with the URL of its wasm encoded after `#`. */
export interface FfmpegCoreOptions {
  mainScriptUrlOrBlob: string;
}

/** A file for `mount`. */
export interface MountedFiles {
  files?: readonly File[];
  blobs?: readonly { name: string; data: Blob }[];
}

const MEMORY = 2048 * MIB;
const FOLDER_MODE = 0o040_000;

/**
 * Creates the fast core for plain `@ffmpeg/ffmpeg`, which imports this module in its worker as `coreURL`, with the core itself as
 * `wasmURL`. It can run ffmpeg repeatedly; ffprobe throws, because the core has none.
 */
// biome-ignore lint/style/noDefaultExport: it is what @ffmpeg/ffmpeg imports
export default async function createFFmpegCore({ mainScriptUrlOrBlob }: FfmpegCoreOptions) {
  const { wasmURL } = JSON.parse(atob(mainScriptUrlOrBlob.split("#").at(-1) ?? "")) as { wasmURL: string };
  const response = await fetch(wasmURL, { credentials: "same-origin" });
  if (!response.ok) throw errors.wasmUnloaded({ status: response.status });
  const module = await WebAssembly.compile(await response.arrayBuffer());
  let logger = (_line: { type: string; message: string }) => {};
  let progress = (_state: { progress: number; time: number }) => {};
  let timeout = -1;
  let deadline = Number.POSITIVE_INFINITY;
  let duration: number | null = null;
  let time = 0;

  const core = createFastCore({
    module,
    memory: MEMORY,
    onLine(message) {
      logger({ type: "stderr", message });
      duration ??= durationOf(message);
      const seconds = parseProgress(message);
      if (seconds === null) return;
      time = seconds * 1e6;
      progress({ progress: duration ? Math.min(1, seconds / duration) : 0, time });
    },
    // ffmpeg reads the clock for every packet, so the timeout takes effect here.
    guard({ wasi_snapshot_preview1: wasi = {} }) {
      const readClock = wasi.clock_time_get as (...args: unknown[]) => number;
      wasi.clock_time_get = (...args: unknown[]) => {
        if (performance.now() > deadline) throw new Exit(1);
        return readClock(...args);
      };
    },
  });
  const { files } = core;

  return {
    ret: -1,
    exec(...args: string[]): number {
      duration = null;
      deadline = timeout < 0 ? Number.POSITIVE_INFINITY : performance.now() + timeout;
      this.ret = core.exec(args).code;
      if (this.ret === 0) progress({ progress: 1, time });
      return this.ret;
    },
    ffprobe(): never {
      throw errors.ffprobeMissing();
    },
    reset() {
      this.ret = -1;
      timeout = -1;
    },
    setLogger(listener: typeof logger) {
      logger = listener;
    },
    setProgress(listener: typeof progress) {
      progress = listener;
    },
    setTimeout(milliseconds: number) {
      timeout = milliseconds;
    },
    FS: {
      filesystems: { WORKERFS: "WORKERFS" },
      writeFile(path: string, data: Uint8Array | string) {
        files.remove(path);
        const file = files.create(path) ?? missing(path);
        file.write(0, typeof data === "string" ? new TextEncoder().encode(data) : data);
      },
      readFile(path: string, { encoding }: { encoding?: string } = {}): Uint8Array | string {
        const file = files.output(path) ?? files.input(path) ?? missing(path);
        const bytes = file.read(0, file.size).slice();
        return encoding === "utf8" ? new TextDecoder().decode(bytes) : bytes;
      },
      unlink: (path: string) => void (files.remove(path) || missing(path)),
      rename: (from: string, to: string) => void (files.rename(from, to) || missing(from)),
      mkdir: (path: string) => files.makeFolder(path),
      rmdir: (path: string) => void (files.removeFolder(path) || missing(path)),
      readdir: (path: string) => [".", "..", ...(files.list(path) ?? missing(path))],
      stat: (path: string) => ({ mode: files.isFolder(path) ? FOLDER_MODE : 0 }),
      isDir: (mode: number) => mode === FOLDER_MODE,
      mount(_type: string, { files: inputs = [], blobs = [] }: MountedFiles, folder: string) {
        const all = [...inputs.map((file) => ({ name: file.name, data: file })), ...blobs];
        for (const { name, data } of all)
          files.mount(
            `${folder}/${name}`,
            createBlobFile(data, () => {}),
          );
      },
      unmount: (folder: string) => files.unmount(folder),
    },
  };
}

function missing(path: string): never {
  throw errors.pathMissing({ path });
}

function durationOf(line: string): number | null {
  const [, hours, minutes, seconds] = /^ {2}Duration: (\d+):(\d\d):(\d\d\.\d+),/.exec(line) ?? [];
  return hours === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
