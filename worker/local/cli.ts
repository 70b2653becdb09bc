import { MediaError } from "../../src/core/errors.ts";

/** Runs a command: an error that was foreseen prints as one line, any other with its trace; both end the process with code 1. */
export function runMain(main: () => Promise<void>): void {
  main().catch((thrown: unknown) => {
    console.error(isForeseen(thrown) ? `error: ${thrown.message}` : thrown);
    // At once: whatever still holds the process open belongs to what just failed.
    process.exit(1);
  });
}

function isForeseen(thrown: unknown): thrown is Error {
  // util.parseArgs names a wrong argument in errors of its own.
  const code = String((thrown as NodeJS.ErrnoException | null)?.code);
  return thrown instanceof MediaError || (thrown instanceof Error && code.startsWith("ERR_PARSE_ARGS"));
}

/** Throws the {@link MediaError} of a wrong setting or argument. */
export function wrong(message: string, param?: string): never {
  throw new MediaError("request_invalid", message, { param });
}

/** Aborts at the first SIGINT, SIGTERM or SIGHUP; with npm above it, also when npm is gone. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => controller.abort());
  }
  // A killed npm cannot pass its end on to the script it runs.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) {
    setInterval(() => process.ppid !== parent && controller.abort(), 500).unref();
  }
  return controller.signal;
}
