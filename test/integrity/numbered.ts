import { rm } from "node:fs/promises";
import { keepClip, runFfmpeg } from "../fixtures/make-clip.ts";

/**
 * The picture of every source: the top sixth shows the frame's number in binary, lowest bit first and white for 1; the second
 * sixth shows the same bits inverted; the rest moves. A bit whose two blocks are not opposites is unreadable.
 */
export const PICTURE = { width: 320, height: 192, fps: 25, bits: 10, band: 32 } as const;

/** The sound of every source: a rising tone whose frequency encodes the time. */
export const TONE = { start_hz: 300, hz_per_second: 200, sample_rate: 48_000 } as const;

/** The containers of the sources, each with its audio codec. */
export const CONTAINERS = {
  mp4: "aac",
  mov: "aac",
  mkv: "aac",
  webm: "libopus",
  ts: "aac",
  avi: "libmp3lame",
} as const;

export type Container = keyof typeof CONTAINERS;

export interface NumberedClip {
  container: Container;
  frames: number;
  /** Options of native ffmpeg for the video. */
  codec: string;
  /** Name of the audio encoder; default is the container's. */
  sound?: string;
  /** Frames for which there is sound; default is all. */
  heard?: number;
  /** Encodes in two passes, as libvpx requires for hidden references. */
  two_passes?: boolean;
}

/** Makes a numbered clip with native ffmpeg and returns its path. */
export function numberedClip({
  container,
  frames,
  codec,
  sound,
  heard = frames,
  two_passes,
}: NumberedClip): Promise<string> {
  const args = [
    ...toneInput(heard),
    ...[...numberedInput(frames), "-map", "0:a"],
    ...[...codec.split(" "), "-c:a", sound ?? CONTAINERS[container], "-b:a", "96k"],
  ];
  return keepClip(container, JSON.stringify([container, args, two_passes]), async (path) => {
    if (!two_passes) return runFfmpeg([...args, path]);
    const log = ["-passlogfile", path];
    await runFfmpeg([...args, ...log, "-pass", "1", path]);
    await runFfmpeg([...args, ...log, "-pass", "2", path]);
    await rm(`${path}-0.log`);
  });
}

/** Copies the packets of a file without sound, adds the sound of a numbered clip, and returns the path. */
export function withTone(pictures: string, container: Container, frames: number): Promise<string> {
  const args = [
    ...[
      ...toneInput(frames),
      "-fflags",
      "+genpts",
      "-i",
      pictures,
      "-map",
      "1:v",
      "-map",
      "0:a",
      "-c:v",
      "copy",
    ],
    ...["-c:a", CONTAINERS[container], "-b:a", "96k"],
  ];
  return keepClip(container, JSON.stringify([container, args]), (path) => runFfmpeg([...args, path]));
}

/** Returns ffmpeg arguments for numbered pictures without sound. */
export function numberedInput(frames: number): string[] {
  return ["-filter_complex", `${numberedPictures(frames)}[v]`, "-map", "[v]"];
}

function toneInput(frames: number): string[] {
  const { start_hz, hz_per_second, sample_rate } = TONE;
  const wave = `0.5*sin(2*PI*(${start_hz}*t+${hz_per_second / 2}*t*t))`;
  const seconds = frames / PICTURE.fps;
  return ["-f", "lavfi", "-i", `aevalsrc=${wave}|${wave}:s=${sample_rate}:d=${seconds}`];
}

function numberedPictures(frames: number): string {
  const { width, height, fps, bits, band } = PICTURE;
  const length = `rate=${fps}:duration=${frames / fps},format=yuv420p`;
  const bit = "16+219*mod(floor(N/pow(2,X))+Y,2)";
  const number = `color=black:size=${bits}x2:${length},geq=lum='${bit}':cb=128:cr=128,scale=${width}:${2 * band}:flags=neighbor`;
  const moving = `testsrc2=size=${width}x${height - 2 * band}:${length}`;
  return `${number}[number];${moving}[moving];[number][moving]vstack`;
}
