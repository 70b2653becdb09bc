import { runProgram } from "../fixtures/native-program.ts";

export interface NativeResult {
  output: Buffer;
  log: string;
}

/** Runs native ffmpeg with log level info; rejects with the end of the log when it fails. */
export async function runNative(args: readonly string[]): Promise<NativeResult> {
  const common = ["-hide_banner", "-nostats", "-nostdin", "-threads", "1"];
  try {
    const { stdout, stderr } = await runProgram("ffmpeg", [...common, ...args], 120_000);
    return { output: stdout, log: stderr.toString() };
  } catch (thrown) {
    const log = Object(thrown).stderr?.toString() ?? "";
    throw new Error(`ffmpeg failed: ${args.join(" ")}\n${log.slice(-2000)}`, { cause: thrown });
  }
}
