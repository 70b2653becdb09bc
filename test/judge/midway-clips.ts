import { writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";

/** A clip of 3 s of red pictures and 3 s of blue and larger ones, ten a second. */
export async function resizedClip(extension: "webm" | "ts"): Promise<string> {
  const codec = extension === "webm" ? "-c:v libvpx -b:v 200k" : "-c:v libx264 -preset ultrafast -bf 0";
  const [red, blue] = await Promise.all(
    ["red:size=64x48", "blue:size=96x72"].map((color) =>
      makeClip(extension, [
        ...["-f", "lavfi", "-i", `color=${color}:rate=10:duration=3`, "-pix_fmt", "yuv420p"],
        ...[...codec.split(" "), "-g", "10"],
      ]),
    ),
  );
  const list = await keepClip("txt", `${red} ${blue}`, (path) =>
    writeFile(path, `file ${red}\nfile ${blue}\n`),
  );
  return makeClip(extension, ["-f", "concat", "-safe", "0", "-i", list, "-c", "copy"]);
}
