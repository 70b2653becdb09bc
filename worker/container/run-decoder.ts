import { diskFull } from "../../src/ffmpeg/read-failure.ts";
import { errors } from "./errors.ts";
import type { Installed, Limits } from "./installed.ts";
import { runProgram } from "./run-ffmpeg.ts";
import { type Watchdog, watch } from "./watchdog.ts";

/** The surroundings of a decoder: its folder, limits and signal. */
export interface DecoderRun {
  /** Its folder. */
  folder: string;
  installed: Installed;
  limits: Limits & { stall_seconds: number };
  signal: AbortSignal;
  /** Returns whether the machine has so many bytes for this job, beside the others. */
  fits(bytes: number): boolean;
  /** Called with the share of the decoding that is done. */
  onProgress(share: number): void;
}

/** Runs a decoder to its end, and calls `onLine` with its output; rejects with the {@link MediaError} of what went wrong. */
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
      watchdog = watch({ ffmpeg, progress: () => 0, waits: () => false, fits, folder, stall_seconds });
    },
  });
  watchdog?.stop();
  signal.throwIfAborted();
  const ended = watchdog?.fault();
  if (ended) throw ended;
  if (end.code === 0) return;
  const cause = end.log.join("\n");
  if (end.signal === "SIGXFSZ" || /No space left/.test(cause)) throw diskFull(cause);
  if (end.signal === "SIGKILL" || end.signal === "SIGTERM") {
    throw errors.decoderKilled({ cause });
  }
  // libheif reports an impossible picture size as a lack of memory too.
  if (/[Aa]lloc/.test(cause) && !/[Ss]ecurity limit/.test(cause)) {
    throw errors.decoderOutOfMemory({ cause });
  }
  throw errors.pictureUnreadable({ cause });
}
