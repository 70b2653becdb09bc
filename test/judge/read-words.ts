import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { runNative } from "./native.ts";

const run = promisify(execFile);

// Letters of near white become black on white, four times as large.
const LETTERS = "format=gray,scale=iw*4:-1:flags=lanczos,lutyuv=y=if(gt(val\\,190)\\,0\\,255)";

/** Reads the English words in near white of the picture at a time of a video, in seconds, with Tesseract: a line each. */
export async function readWords(path: string, seconds: number): Promise<string[]> {
  const filter = `select=gte(t\\,${seconds - 1e-4}),${LETTERS}`;
  const { output } = await runNative([
    ...["-i", path, "-an", "-vf", filter, "-frames:v", "1"],
    ...["-c:v", "png", "-f", "image2pipe", "-"],
  ]);
  if (output.length === 0) throw new Error(`${path} has no picture at ${seconds} s`);
  // One block of text, in one thread.
  const reading = run("tesseract", ["stdin", "stdout", "--psm", "6", "-l", "eng"], {
    ...{ timeout: 60_000, killSignal: "SIGKILL", env: { ...process.env, OMP_THREAD_LIMIT: "1" } },
  });
  // It may end before it has read everything.
  reading.child.stdin?.on("error", () => {}).end(output);
  const { stdout } = await reading;
  return stdout
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
