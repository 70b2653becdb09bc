import { MediaError } from "../../src/media/errors.ts";

/** Runs a command and exits with code 1 if it fails: an expected error prints one line, any other its stack trace. */
export function runMain(main: () => Promise<void>): void {
  main().catch((thrown: unknown) => {
    console.error(isForeseen(thrown) ? `error: ${thrown.message}` : thrown);
    // Whatever still keeps the process alive belongs to what just failed.
    process.exit(1);
  });
}

function isForeseen(thrown: unknown): thrown is Error {
  // util.parseArgs reports a wrong argument with error codes of its own.
  const code = String((thrown as NodeJS.ErrnoException | null)?.code);
  return thrown instanceof MediaError || (thrown instanceof Error && code.startsWith("ERR_PARSE_ARGS"));
}

/** Returns a signal that aborts at the first SIGINT, SIGTERM or SIGHUP, and when the npm that runs this script dies. */
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
