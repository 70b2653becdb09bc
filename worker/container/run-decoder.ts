import { diskFull } from "../../src/media/ffmpeg/run-log.ts";
import { errors } from "./errors.ts";
import type { Installed, Limits } from "./installed.ts";
import { runProgram } from "./run-ffmpeg.ts";
import { type Watchdog, watch } from "./watchdog.ts";

/** What a decoder runs with. */
export interface DecoderRun {
  /** Its working directory. */
  folder: string;
  installed: Installed;
  limits: Limits & { stall_seconds: number };
  signal: AbortSignal;
  /** Returns whether this many bytes fit into the machine's memory beside the other jobs. */
  fits(bytes: number): boolean;
  /** Receives the finished share of the decoding, 0 to 1. */
  onProgress(share: number): void;
}

/** Runs a decoder and passes each line of its output to `onLine`. Rejects with a {@link MediaError}. */
export async function runDecoder(
  name: string,
  args: readonly string[],
  run: DecoderRun,
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const { folder, installed, limits, signal, fits } = run;
  let watchdog: Watchdog | undefined;
  const end = await runProgram(name, {
    ...{ args, cwd: folder, installed, limits, signal },
    onProgress: onLine,
    onStart(ffmpeg) {
      const { stall_seconds } = limits;
      watchdog = watch({ ffmpeg, progress: () => 0, isWaiting: () => false, fits, folder, stall_seconds });
    },
  });
  watchdog?.stop();
  signal.throwIfAborted();
  const fault = watchdog?.fault();
  if (fault) throw fault;
  if (end.code === 0) return;
  const cause = end.log.join("\n");
  if (end.signal === "SIGXFSZ" || /No space left/.test(cause)) throw diskFull(cause);
  if (end.signal === "SIGKILL" || end.signal === "SIGTERM") {
    throw errors.decoderKilled({ cause });
  }
  // libheif also reports an impossible picture size as a failed allocation.
  if (/[Aa]lloc/.test(cause) && !/[Ss]ecurity limit/.test(cause)) {
    throw errors.decoderOutOfMemory({ cause });
  }
  throw errors.pictureUnreadable({ cause });
}
