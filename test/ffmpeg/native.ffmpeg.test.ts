import { expect, test } from "vitest";
import { z } from "zod";
import { clip } from "../fixtures/clips.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { ALIKE_SOUND } from "../judge/limits.ts";
import { readPicture } from "../judge/picture.ts";
import { compareSound, readSound } from "../judge/sound.ts";
import { encode } from "./native-encode.ts";

const HDR = { transfer: "smpte2084", primaries: "bt2020", pixel_format: "yuv420p10le" };
const SDR = { transfer: "bt709", primaries: "bt709", pixel_format: "yuv420p" };

test.concurrent.for([
  { format: "mp4", codec: "h265", expected: HDR },
  { format: "mov", codec: "h265", expected: HDR },
  { format: "mp4", codec: "av1", expected: HDR },
  { format: "webm", codec: "vp9", expected: SDR },
  { format: "mp4", codec: "h264", expected: SDR },
] as const)(
  "encodes HDR to $format as $codec, tone-mapped where needed",
  async ({ format, codec, expected }, { expect }) => {
    const input = await clip("mp4_hdr", { seconds: 1 });
    const { path } = await encode(input, "video", { format, codec, width: 120 });
    const { picture } = await readFacts(path);
    expect(picture).toMatchObject({ width: 120, height: 68, ...expected });
    expect(picture?.times).toHaveLength(25);
    if (codec === "h265") expect(picture?.tag).toBe("hvc1");
  },
);

test.concurrent.for(["h265", "av1"] as const)(
  "deinterlaces, rotates and squares pixels for %s",
  async (codec, { expect }) => {
    const sizes = {
      mp4_interlaced: [160, 88],
      mp4_rotated_90: [90, 160],
      mp4_wide_pixels: [212, 90],
    } as const;
    for (const [name, [width, height]] of Object.entries(sizes)) {
      const input = await clip(name as keyof typeof sizes, { seconds: 1 });
      const { picture } = await readFacts((await encode(input, "video", { codec })).path);
      expect([name, picture]).toMatchObject([
        name,
        { width, height, rotation: 0, pixel_aspect: "1:1", interlaced: false, pixel_format: "yuv420p" },
      ]);
    }
  },
);

const Tags = z.object({
  format: z.object({ tags: z.record(z.string(), z.string()).default({}) }),
  streams: z.array(z.object({ tags: z.record(z.string(), z.string()).default({}) })),
  chapters: z.array(z.unknown()),
});

test.concurrent.for([
  { kind: "video", options: { codec: "h265", metadata: "strip" } },
  { kind: "video", options: { format: "webm", metadata: "strip" } },
  { kind: "audio", options: { format: "mp3", metadata: "strip" } },
  { kind: "audio", options: { format: "flac", metadata: "strip" } },
  { kind: "image", options: { format: "jpeg" } },
] as const)("strips all metadata: $kind $options", async ({ kind, options }, { expect }) => {
  const input = await makeClip("mkv", [
    ..."-f lavfi -i testsrc2=size=160x90:duration=1 -f lavfi -i sine=duration=1".split(" "),
    ..."-c:v libx264 -c:a aac -metadata title=SECRET -metadata location=+1+2/ -metadata comment=SECRET".split(
      " ",
    ),
    ..."-metadata:s:v title=SECRET -metadata:s:a handler_name=SECRET -metadata creation_time=2020-02-02T02:02:02Z".split(
      " ",
    ),
  ]);
  const { path } = await encode(input, kind, options);
  const { format, streams, chapters } = Tags.parse(await runFfprobe(path, ["-show_chapters"]));
  const texts = [format, ...streams].flatMap(({ tags }) => Object.values(tags)).join("\n");
  expect(texts).not.toMatch(/SECRET|2020|\+1\+2/);
  expect(chapters).toEqual([]);
});

test.concurrent.for([
  { language: "deu", stored: "ger" },
  { language: "swe", stored: "sve" },
  { language: "nob", stored: "nor" },
  { language: "jpn", stored: "jpn" },
])("a MOV has the language $language of the sound", async ({ language, stored }, { expect }) => {
  const input = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=64x48:duration=0.4 -f lavfi -i sine=duration=0.4 -c:v libx264".split(" "),
    ...["-c:a", "aac", "-metadata:s:a", `language=${language}`],
  ]);
  const { path } = await encode(input, "video", { format: "mov" });
  const { streams } = Tags.parse(await runFfprobe(path, ["-show_chapters"]));
  expect(streams[1]?.tags).toMatchObject({ language: stored });
});

test("mixes 5.1 down to stereo MP3 with every channel audible", async () => {
  const input = await clip("mp4_surround", { seconds: 1 });
  const { path } = await encode(input, "audio", { format: "mp3", quality: "high" });
  const { sound } = await readFacts(path);
  expect(sound).toMatchObject({ codec: "mp3", channels: 2 });
  const as = { channels: 2, sample_rate: 8000 };
  const down = ["-af", "pan=stereo|FL=FL+0.707*FC+0.707*BL|FR=FR+0.707*FC+0.707*BR"];
  const [actual, expected] = await Promise.all([
    readSound(path, as),
    readSound(input, { ...as, after: down }),
  ]);
  for (const echo of compareSound(actual, expected)) expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
});

test("adaptive video from a 10-bit 4:4:4 source is 8-bit 4:2:0", async () => {
  const input = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=25:duration=1,format=yuv444p10le".split(" "),
    ..."-c:v libx264 -preset ultrafast".split(" "),
  ]);
  const { path } = await encode(input, "adaptive_video", {});
  expect((await readFacts(path)).picture).toMatchObject({ codec: "h264", pixel_format: "yuv420p" });
});

test("shrinks a picture in black and white without darkening it", async () => {
  const input = await makeClip("png", [
    ..."-f lavfi -i life=s=800x80:ratio=0.2:seed=1:rule=S/B -frames:v 1 -pix_fmt monob".split(" "),
  ]);
  const { path } = await encode(input, "image", { format: "png", width: 128 });
  const light = async (file: string) => {
    const mean = await readPicture(file, { filter: "format=gray,scale=1:1:flags=area" });
    return mean.at(0, 0)[0];
  };
  expect(Math.abs((await light(path)) - (await light(input)))).toBeLessThan(2);
});
