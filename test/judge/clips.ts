import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { makeClip } from "../fixtures/make-clip.ts";

/** The colors of a quadrant picture: top left, top right, bottom left, bottom right. */
export const QUADRANT_COLORS = ["#c02020", "#20a030", "#2040c0", "#d0b020"] as const;

const WIDTH = 160;
const HEIGHT = 96;
const [TL, TR, BL, BR] = QUADRANT_COLORS.map((color) => color.replace("#", "0x"));
const box = (color: string | undefined, x: number, y: number) =>
  `drawbox=x=${x}:y=${y}:w=${WIDTH / 2}:h=${HEIGHT / 2}:color=${color}:t=fill`;
const quadrants = [
  ...["-f", "lavfi", "-i", `color=${TL}:size=${WIDTH}x${HEIGHT}:rate=25:duration=0.2,format=rgb24`],
];
const boxes = [box(TR, WIDTH / 2, 0), box(BL, 0, HEIGHT / 2), box(BR, WIDTH / 2, HEIGHT / 2)].join(",");
// Converts with a tagged matrix, so that no decoder has to guess it.
const YUV =
  "scale=out_color_matrix=bt709:out_range=tv,format=yuv444p,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709";
const H264 = "-c:v libx264 -preset veryfast -qp 8 -colorspace bt709 -color_primaries bt709 -color_trc bt709";

/** A clip of 5 frames, 160x96, of four colored quadrants; `turned` adds a display matrix with clockwise degrees. */
export function quadrantClip(turned: 0 | 90 | 180 | 270 = 0): Promise<string> {
  const make = [...quadrants, "-vf", `${boxes},${YUV},format=yuv420p`, ...H264.split(" ")];
  if (turned === 0) return makeClip("mp4", make);
  // ffmpeg's tag counts counterclockwise.
  return makeClip("mp4", make, ["-i", "{in}", "-c", "copy", "-metadata:s:v", `rotate=${360 - turned}`]);
}

/** The quadrants with 4:3 pixels, so that 160x96 display as 213x96. */
export function wideQuadrantClip(): Promise<string> {
  return makeClip("mp4", [
    ...quadrants,
    ...["-vf", `${boxes},${YUV},format=yuv420p,setsar=4/3`],
    ...H264.split(" "),
  ]);
}

/** The quadrants as a lossless still. */
export function quadrantPng(): Promise<string> {
  return makeClip("png", [...quadrants, "-vf", boxes, "-bitexact", "-frames:v", "1"]);
}

/** The filters of ffmpeg that do what players do to a photo of each EXIF orientation. */
export const ORIENTATIONS = {
  1: "null",
  2: "hflip",
  3: "hflip,vflip",
  4: "vflip",
  5: "transpose=cclock_flip",
  6: "transpose=clock",
  7: "transpose=clock_flip",
  8: "transpose=cclock",
} as const;

/** A photo of the quadrants whose EXIF data states an orientation, from 1 to 8. */
export async function orientedPhoto(orientation: number): Promise<Buffer> {
  const plain = await readFile(
    await makeClip("jpg", ["-i", await quadrantPng(), "-q:v", "2", "-pix_fmt", "yuvj444p"]),
  );
  return withOrientation(plain, orientation);
}

/** Adds EXIF data with one entry, 0x0112 (Orientation), from 1 to 8, to a JPEG. */
export function withOrientation(jpeg: Buffer, orientation: number): Buffer {
  const entry = "4578696600004d4d002a0000000800010112000300000001";
  const body = Buffer.from(`${entry}000${orientation}000000000000`, "hex");
  const length = Buffer.from([0xff, 0xe1, 0, body.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), length, body, jpeg.subarray(2)]);
}

/** The quadrants as HDR: 10-bit H.265 in PQ and BT.2020 with white at 203 cd/m², so that tone mapping restores the colors. */
export function hdrQuadrantClip(): Promise<string> {
  const pq =
    "zscale=primariesin=bt709:transferin=bt709:matrixin=bt709:rangein=tv:transfer=linear:npl=203,format=gbrpf32le," +
    "zscale=primaries=bt2020:transfer=smpte2084:matrix=bt2020nc:range=tv:npl=203,format=yuv420p10le";
  const codec =
    "-c:v libx265 -preset ultrafast -crf 10 -x265-params log-level=none:pools=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc -tag:v hvc1";
  const tags = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv";
  return makeClip("mp4", [
    ...quadrants,
    ...["-vf", `${boxes},${YUV},${pq}`, ...codec.split(" "), ...tags.split(" ")],
  ]);
}

// Noise below 3 kHz: it never repeats, so that any delay shows, and every codec keeps it.
const noise = (seed: number, seconds: number) =>
  `anoisesrc=seed=${seed}:color=pink:amplitude=0.5:sample_rate=48000:duration=${seconds},lowpass=f=3000`;

/** Stereo sound at 48 kHz that never repeats and differs between channels. */
export function noiseSound(
  extension: "wav" | "flac" | "mp3" | "m4a" | "ogg" | "opus",
  seconds: number,
): Promise<string> {
  const codecs = {
    wav: "pcm_s16le",
    flac: "flac",
    mp3: "libmp3lame",
    m4a: "aac",
    ogg: "libvorbis",
    opus: "libopus",
  };
  return makeClip(extension, [
    ...["-f", "lavfi", "-i", noise(1, seconds), "-f", "lavfi", "-i", noise(2, seconds)],
    ...["-filter_complex", "[0:a][1:a]amerge=inputs=2[sound]", "-map", "[sound]"],
    ...["-c:a", codecs[extension], ...(extension === "wav" || extension === "flac" ? [] : ["-b:a", "192k"])],
  ]);
}

/** Makes the same sound with a test pattern, 160x90 at 25 fps. */
export function noiseClip(seconds: number): Promise<string> {
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", `testsrc2=size=160x90:rate=25:duration=${seconds}`],
    ...["-f", "lavfi", "-i", noise(1, seconds), "-f", "lavfi", "-i", noise(2, seconds)],
    ...["-filter_complex", "[1:a][2:a]amerge=inputs=2[sound]", "-map", "0:v", "-map", "[sound]"],
    ..."-c:v libx264 -preset veryfast -crf 14 -pix_fmt yuv420p -g 12 -c:a aac -b:a 192k".split(" "),
  ]);
}

/** The mix of 5.1 down to stereo (ITU-R BS.775) as a pan filter, apart from a common gain. */
export const FOLD = "pan=stereo|c0=FL+0.707*FC+0.707*BL|c1=FR+0.707*FC+0.707*BR";

/** Video with 5.1 sound and different noise in each channel. */
export function surroundClip(seconds: number): Promise<string> {
  const inputs = [1, 2, 3, 4, 5, 6].flatMap((seed) => ["-f", "lavfi", "-i", noise(seed, seconds)]);
  const join = "[1:a][2:a][3:a][4:a][5:a][6:a]join=inputs=6:channel_layout=5.1,volume=0.5[sound]";
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", `testsrc2=size=160x90:rate=25:duration=${seconds}`, ...inputs],
    ...["-filter_complex", join, "-map", "0:v", "-map", "[sound]"],
    ..."-c:v libx264 -preset veryfast -crf 14 -pix_fmt yuv420p -c:a aac -b:a 512k".split(" "),
  ]);
}

/** A clip in a container of which everything begins at seven seconds. */
export function lateClip(extension: string, clip: string): Promise<string> {
  return makeClip(extension, ["-i", clip, "-map", "0", "-c", "copy", "-output_ts_offset", "7"]);
}

/** The clip of {@link noiseClip} with its sound 0.4 seconds late, so that players begin in silence. */
export async function lateSoundClip(seconds: number): Promise<string> {
  const clip = await noiseClip(seconds);
  const maps = ["-map", "0:v", "-map", "1:a", "-c", "copy"];
  return makeClip("mp4", ["-i", clip, "-itsoffset", "0.4", "-i", clip, ...maps]);
}

/** A clip of pictures whose sound starts 0.4 seconds after them and ends at a third of their time. */
export async function shortSoundClip(seconds: number): Promise<string> {
  const clip = await noiseClip(seconds);
  const sound = ["-itsoffset", "0.4", "-t", String(seconds / 3), "-i", clip];
  return makeClip("mp4", ["-i", clip, ...sound, "-map", "0:v", "-map", "1:a", "-c", "copy"]);
}

/** A clip whose pictures end at a third of the time of its sound. */
export async function longSoundClip(seconds: number): Promise<string> {
  const clip = await noiseClip(seconds);
  const pictures = ["-t", String(seconds / 3), "-i", clip];
  return makeClip("mp4", [...pictures, "-i", clip, "-map", "0:v", "-map", "1:a", "-c", "copy"]);
}

/** A Matroska file with video, two audio streams of which the second is a tone, subtitles and a cover. */
export async function crowdedClip(seconds: number): Promise<string> {
  const clip = await noiseClip(seconds);
  const cover = await makeClip("jpg", ["-i", await quadrantPng(), "-q:v", "5"]);
  const words = `data:text/plain,1%0A00:00:00,000%20--%3E%2000:00:01,000%0AHello%0A`;
  return makeClip("mkv", [
    ...["-i", clip, "-f", "lavfi", "-i", `sine=frequency=300:duration=${seconds}`, "-f", "srt", "-i", words],
    ...[
      "-map",
      "0:v",
      "-map",
      "0:a",
      "-map",
      "1:a",
      "-map",
      "2:s",
      "-c",
      "copy",
      "-c:a:1",
      "flac",
      "-c:s",
      "srt",
    ],
    ...["-attach", cover, "-metadata:s:t", "mimetype=image/jpeg", "-metadata:s:t", "filename=cover.jpg"],
  ]);
}

/** Mono noise at any sample rate. */
export function monoSound(sample_rate: number): Promise<string> {
  const low = `anoisesrc=seed=7:color=pink:amplitude=0.5:sample_rate=${sample_rate}:duration=1,lowpass=f=2000`;
  return makeClip("wav", ["-f", "lavfi", "-i", low, "-c:a", "pcm_s16le"]);
}

// The quadrants blended with a moving pattern, so that placing, timing and likeness all show; `busy` adds noise that takes many
// bits.
const marked = (seconds: number, busy = false) => {
  const base = `color=${TL}:size=${WIDTH}x${HEIGHT}:rate=25:duration=${seconds},format=rgb24,${boxes}`;
  const pattern = `testsrc2=size=${WIDTH}x${HEIGHT}:rate=25:duration=${seconds},format=rgb24`;
  const noisy = busy ? ",noise=alls=24:allf=t" : "";
  return `${base}[q];${pattern}[t];[q][t]blend=all_mode=normal:all_opacity=0.8${noisy}`;
};

export const MARKED_CODECS = {
  h264: `${H264} -g 12`,
  av1: "-c:v libaom-av1 -cpu-used 8 -usage realtime -crf 8 -b:v 0 -g 12 -colorspace bt709 -color_primaries bt709 -color_trc bt709",
} as const;

/** Quadrants with a moving pattern, 160x96 at 25 fps, with the sound of {@link noiseClip}. */
export function markedClip(
  codec: keyof typeof MARKED_CODECS,
  seconds: number,
  busy = false,
): Promise<string> {
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", noise(1, seconds), "-f", "lavfi", "-i", noise(2, seconds)],
    ...["-filter_complex", `${marked(seconds, busy)},${YUV},format=yuv420p[v];[0:a][1:a]amerge=inputs=2[a]`],
    ...["-map", "[v]", "-map", "[a]", ...MARKED_CODECS[codec].split(" "), "-c:a", "aac", "-b:a", "192k"],
  ]);
}

/** The first frame of {@link markedClip} as a still. */
export async function markedStill(format: "png" | "avif"): Promise<string> {
  const png = await makeClip("png", [
    ...["-filter_complex", `${marked(0.04)},format=rgb24`, "-bitexact", "-frames:v", "1"],
  ]);
  if (format === "png") return png;
  const codec = `-c:v libaom-av1 -still-picture 1 -cpu-used 8 -crf 4 -b:v 0`;
  const tags = "-colorspace bt709 -color_primaries bt709 -color_trc bt709";
  return makeClip("avif", [
    ...["-i", png, "-vf", `${YUV},format=yuv420p`, ...codec.split(" "), ...tags.split(" ")],
  ]);
}

/** Eight such pictures at 5 fps as an animation. */
export function markedGif(): Promise<string> {
  return makeClip("gif", [
    ...["-filter_complex", `${marked(1.6)},fps=5,split[look][use];[look]palettegen[p];[use][p]paletteuse`],
  ]);
}

/** Lossless sound in a Matroska file without a duration, as in a recorded live stream, with `bulk` bytes of padding. */
export async function endlessSound(seconds: number, bulk = 0): Promise<string> {
  const file = await makeClip("mkv", [
    ...["-f", "lavfi", "-i", noise(1, seconds), "-f", "lavfi", "-i", noise(2, seconds)],
    ...["-filter_complex", "[0:a][1:a]amerge=inputs=2[sound]", "-map", "[sound]"],
    ...["-c:a", "alac", "-live", "1"],
  ]);
  if (bulk === 0) return file;
  const bulky = file.replace(".mkv", `-${bulk}.mkv`);
  if (existsSync(bulky)) return bulky;
  // An EBML Void element with an eight-byte length, whose zeros are a hole in the file.
  const head = Buffer.from(`ec01${bulk.toString(16).padStart(14, "0")}`, "hex");
  const making = `${bulky}.${randomUUID()}`;
  await writeFile(making, Buffer.concat([await readFile(file), head]));
  await truncate(making, (await stat(making)).size + bulk);
  await rename(making, bulky);
  return bulky;
}
