import { readFile, writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { numberedClip } from "../integrity/numbered.ts";

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

/** The halves of a {@link relaidClip}, in seconds, and its pictures a second. */
export const RELAID = { seconds: 12, change: 6.15, fps: 25 } as const;

/**
 * A numbered clip in a transport stream whose sound, AC-3, begins `late` seconds after its pictures, and changes from stereo to six
 * channels in the middle, or from six to stereo that is `quieter` by decibels.
 */
export async function relaidClip({ late = 0, quieter = 0 } = {}): Promise<string> {
  const { seconds, change, fps } = RELAID;
  const codec = "-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p";
  const whole = await numberedClip({ container: "mkv", frames: seconds * fps, codec, sound: "flac" });
  const six = "pan=5.1|FL=FL|FR=FR|FC=FL|BL=FL|BR=FR";
  const [before, after] = quieter ? [six, `volume=-${quieter}dB`] : ["anull", six];
  const sound = (from: number, to: number, filter: string) =>
    makeClip("ac3", ["-i", whole, "-vn", "-af", `atrim=${from}:${to},${filter}`, "-c:a", "ac3"]);
  const parts = await Promise.all([sound(late, change, before), sound(change, seconds, after)]);
  const joined = await keepClip("ac3", parts.join(" "), async (path) =>
    writeFile(path, Buffer.concat(await Promise.all(parts.map((part) => readFile(part))))),
  );
  return makeClip("ts", [
    ...["-i", whole, "-itsoffset", String(late), "-i", joined],
    ...["-map", "0:v", "-map", "1:a", "-c", "copy"],
  ]);
}
