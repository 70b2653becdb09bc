import { makeClip } from "../../fixtures/make-clip.ts";

const CHAPTERS = [
  ";FFMETADATA1",
  ...["[CHAPTER]", "TIMEBASE=1/1", "START=0", "END=1", "title=Dawn"],
  ...["[CHAPTER]", "TIMEBASE=1/1", "START=1", "END=2", "title=Dusk"],
].join("\n");

const PICTURES = {
  h264: "-c:v libx264 -preset ultrafast -crf 20 -pix_fmt yuv420p -g 25",
  av1: "-c:v libaom-av1 -cpu-used 8 -usage realtime -b:v 300k -g 25",
} as const;

const box = (x: number, y: number, color: string) => `drawbox=x=${x}:y=${y}:w=80:h=45:color=${color}:t=fill`;
// A color in each quarter, so that a turned, mirrored or cropped picture is known by one pixel; the noise takes bits.
const QUARTERS = [
  "color=red:size=160x90:rate=25:duration=2",
  ...[box(80, 0, "lime"), box(0, 45, "blue"), box(80, 45, "white"), "noise=alls=30:allf=t"],
].join(",");

/**
 * Returns the path of an MP4 of 160x90, 25 fps and 2 seconds with two chapters, stereo sound in English and mono sound in German;
 * its quarters are red and green, blue and white.
 * Only the native encoder of the service reads AV1.
 */
export function dubbedClip(codec: keyof typeof PICTURES): Promise<string> {
  const metadata = `data:text/plain;base64,${btoa(CHAPTERS)}`;
  const sine = (hertz: number, rate: number) => [
    ...["-f", "lavfi", "-i", `sine=frequency=${hertz}:sample_rate=${rate}:duration=2`],
  ];
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", QUARTERS],
    ...[...sine(440, 44_100), ...sine(880, 44_100), ...sine(220, 32_000)],
    ...["-f", "ffmetadata", "-i", metadata, "-filter_complex", "[1:a][2:a]amerge=inputs=2[two]"],
    ...["-map", "0:v", "-map", "[two]", "-map", "3:a", "-map_metadata", "4", "-map_chapters", "4"],
    ...PICTURES[codec].split(" "),
    ..."-c:a aac -b:a 96k -metadata:s:a:0 language=eng -metadata:s:a:1 language=deu".split(" "),
  ]);
}
