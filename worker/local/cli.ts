import { MediaError } from "../../src/media/errors.ts";

/** Runs a command and exits with code 1 if it fails: an expected error prints one line, any other its stack trace. */
export function runMain(main: () => Promise<void>): void {
  main().catch((thrown: unknown) => {
    console.error(isExpected(thrown) ? `error: ${thrown.message}` : thrown);
    process.exit(1);
  });
}

function isExpected(thrown: unknown): thrown is Error {
  const code = String((thrown as NodeJS.ErrnoException | null)?.code);
  return thrown instanceof MediaError || (thrown instanceof Error && code.startsWith("ERR_PARSE_ARGS"));
}

/** Returns a signal that aborts at the first SIGINT, SIGTERM or SIGHUP, and when the npm that runs this script dies. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => controller.abort());
  }
  // A killed npm cannot signal the script that it runs.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) {
    setInterval(() => process.ppid !== parent && controller.abort(), 500).unref();
  }
  return controller.signal;
}
