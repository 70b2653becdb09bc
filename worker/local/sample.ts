import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { requireTools } from "./system.ts";

/** Makes a clip with native ffmpeg to try things on: ten seconds of a moving test picture and a tone, as MP4 with H.264 and AAC. Returns its path. */
export async function makeSample(folder: string): Promise<string> {
  requireTools(["ffmpeg"]);
  const path = join(folder, "sample.mp4");
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30:duration=10"];
  const sound = ["-f", "lavfi", "-i", "sine=frequency=440:beep_factor=4:sample_rate=48000:duration=10"];
  const video = ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-g", "60"];
  const args = [...picture, ...sound, ...video, "-c:a", "aac", "-b:a", "128k", "-shortest", path];
  await promisify(execFile)("ffmpeg", ["-v", "error", "-nostdin", "-y", ...args]);
  return path;
}
