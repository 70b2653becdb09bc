import { readFile, writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { writeIcon } from "./icons.ts";

const X264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 25".split(" ");
const NOISE = "color=pink:amplitude=0.5:sample_rate=48000:duration=3,lowpass=f=3000";

const film = (size = "160x120") => ["-f", "lavfi", "-i", `testsrc2=size=${size}:rate=25:duration=3`];
const slides = (size = "64x64") => ["-f", "lavfi", "-i", `testsrc=size=${size}:rate=1:duration=3`];
const cover = ["-f", "lavfi", "-i", "color=red:size=300x300:rate=25:duration=0.04"];
const noise = (seed: number) => ["-f", "lavfi", "-i", `anoisesrc=seed=${seed}:${NOISE}`];

/** Writes a cover as an ordinary first video track, then the film and its sound. */
const coverFirst = (extension: "mkv" | "mp4" | "mov", codec: "mjpeg" | "png") =>
  makeClip(extension, [
    ...[...cover, ...film(), ...noise(1), "-map", "0", "-map", "1", "-map", "2"],
    ...[...X264, "-c:v:0", codec, "-pix_fmt:v:0", codec === "png" ? "rgb24" : "yuvj420p", "-c:a", "aac"],
    ...["-disposition:v:0", "0", "-disposition:v:1", "default"],
  ]);

/** Writes two video tracks: one of 64 × 64 at a picture a second, then the film; flags as given. */
const twoFilms = (extension: "mkv" | "mp4" | "mov", ...flags: string[]) =>
  makeClip(extension, [
    ...[...slides(), ...film(), ...noise(1), "-map", "0", "-map", "1", "-map", "2"],
    ...[...X264, "-c:a", "aac", ...flags],
  ]);

/** Writes a film with two sounds of their own noise, mono and stereo; the second is the default. */
const twoSounds = (extension: "mkv" | "mp4" | "mov") =>
  makeClip(extension, [
    ...[...film(), ...noise(1), ...noise(2), "-map", "0", "-map", "1", "-map", "2"],
    ...[...X264, "-c:a", "aac", "-ac:a:0", "1", "-ac:a:1", "2", "-disposition:a:0", "0"],
    ...["-disposition:a:1", "default", "-metadata:s:a:0", "language=jpn", "-metadata:s:a:1", "language=eng"],
  ]);

const LACING = Buffer.from([0x9c, 0x81, 0x00]);
const ENABLED = 0xb9;

/** Disables a track of a Matroska file: FlagEnabled takes the place of FlagLacing, which ffmpeg writes for each track. */
function disabled(input: Promise<string>, track: number): Promise<string> {
  return input.then((path) =>
    keepClip("mkv", `${path} without track ${track}`, async (output) => {
      const bytes = await readFile(path);
      let at = -1;
      for (let count = 0; count <= track; count++) at = bytes.indexOf(LACING, at + 1);
      bytes[at] = ENABLED;
      await writeFile(output, bytes);
    }),
  );
}

const DEFAULT_BOTH = ["-disposition:v:0", "default", "-disposition:v:1", "default"];
const DEFAULT_SECOND = ["-disposition:v:0", "0", "-disposition:v:1", "default"];

/** Files whose film is the second video track: 75 pictures of 160 × 120. */
export const FILM_SECOND = {
  "a JPEG first in Matroska": () => coverFirst("mkv", "mjpeg"),
  "a PNG first in Matroska": () => coverFirst("mkv", "png"),
  "a JPEG first in MP4": () => coverFirst("mp4", "mjpeg"),
  "a PNG first in MOV": () => coverFirst("mov", "png"),
  "a disabled track first in MP4": () => twoFilms("mp4", ...DEFAULT_SECOND),
  "a disabled track first in MOV": () => twoFilms("mov", ...DEFAULT_SECOND),
  "a disabled track first in Matroska": () => disabled(twoFilms("mkv", ...DEFAULT_BOTH), 0),
  "another than the default first in Matroska": () => twoFilms("mkv", ...DEFAULT_SECOND),
  "a smaller track first in Matroska": () => twoFilms("mkv", ...DEFAULT_BOTH),
} as const;

/** Writes a film that is disabled, and has no other beside it. */
export const loneDisabled = () => disabled(makeClip("mkv", [...film(), ...X264]), 0);

/** Files whose sound is the second sound track, stereo and of the noise of seed 2. */
export const SOUND_SECOND = {
  "the default second in Matroska": () => twoSounds("mkv"),
  "the enabled one second in MP4": () => twoSounds("mp4"),
  "the enabled one second in MOV": () => twoSounds("mov"),
} as const;

/** Writes an icon of a red PNG of 16 × 12 and a blue one of 160 × 120. */
export async function twoSizes(): Promise<string> {
  const sizes = [
    { color: "red", width: 16, height: 12 },
    { color: "blue", width: 160, height: 120 },
  ];
  const pictures = await Promise.all(
    sizes.map(async ({ color, width, height }) => {
      const input = `color=${color}:size=${width}x${height}`;
      const png = ["-frames:v", "1", "-pix_fmt", "rgba"];
      const data = await readFile(await makeClip("png", ["-f", "lavfi", "-i", input, ...png]));
      return { data, width, height };
    }),
  );
  const icon = writeIcon(pictures);
  return keepClip("ico", icon.toString("base64"), (path) => writeFile(path, icon));
}
