import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createPlan } from "../../src/media/create-plan.ts";
import { dropped } from "../../src/media/dropped.ts";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { type IconPicture, maskedBitmap, writeIcon } from "../judge/icons.ts";
import { FILM_SECOND, SOUND_SECOND, twoSizes } from "../judge/main-tracks.ts";
import { probeFile } from "./probe-file.ts";

test.for(Object.entries(FILM_SECOND))("describes the film behind %s", async ([, make]) => {
  const { source } = await probeFile(await make());
  const { width, height, fps, codecs, video_track, sound_track } = source;
  expect({ width, height, codecs, video_track, sound_track }).toEqual({
    width: 160,
    height: 120,
    codecs: { video: "h264", audio: "aac" },
    video_track: 1,
    sound_track: undefined,
  });
  expect(fps).toBeCloseTo(25, 0);
  expect(dropped("video", { width: 80 }, source)).toEqual([{ kind: "video", index: 0, reason: "one_track" }]);
});

test.for(Object.entries(SOUND_SECOND))("describes the sound of %s", async ([, make]) => {
  const { source } = await probeFile(await make());
  expect(source).toMatchObject({ sound_track: 1, audio: { channels: 2, sample_rate: 48_000 } });
  expect(source.streams?.[1]).toMatchObject({ kind: "audio", channels: 1 });
  const lost = (options: object) =>
    dropped("video", options, source).map(({ kind, index }) => ({ kind, index }));
  for (const options of [{}, { track: 1 }]) expect(lost(options)).toEqual([{ kind: "audio", index: 1 }]);
  expect(lost({ track: 0 })).toEqual([{ kind: "audio", index: 2 }]);
});

test("describes the sound of the film's program, not of the radio program before it", async () => {
  const path = await makeClip("ts", [
    ...["-f", "lavfi", "-i", "sine=sample_rate=44100:duration=2"],
    ...["-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=2"],
    ...["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=2", "-map", "0", "-map", "1", "-map", "2"],
    ...["-c:v", "libx264", "-preset", "veryfast", "-c:a", "aac"],
    ...["-program", "title=Radio:st=0", "-program", "title=Television:st=1:st=2"],
  ]);
  const { source } = await probeFile(path);
  expect(source).toMatchObject({ sound_track: 1, audio: { sample_rate: 48_000 } });
  expect(source.streams?.[0]).toMatchObject({ kind: "audio", sample_rate: 44_100 });
});

test("plays no sound of another program, unless track selects it", async () => {
  const programs = async (...maps: string[]) => {
    const path = await makeClip("ts", [
      ...["-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=2"],
      ...["-f", "lavfi", "-i", "sine=sample_rate=44100:duration=2"],
      ...["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=2", "-map", "0", "-map", "1", "-map", "2"],
      ...["-c:v", "libx264", "-preset", "veryfast", "-c:a", "aac"],
      ...maps.flatMap((streams, at) => ["-program", `title=${at}:${streams}`]),
    ]);
    return (await probeFile(path)).source;
  };
  const television = await programs("st=0:st=2", "st=1");
  expect(television.streams?.map(({ other_program }) => other_program)).toEqual([undefined, undefined, true]);
  const stream = createPlan(television, "adaptive_video", {});
  expect(stream).toMatchObject({ audio: { sample_rate: 48_000 } });
  expect([stream.sounds, stream.sound_track]).toEqual([undefined, undefined]);
  const silent = await programs("st=0", "st=1:st=2");
  expect(silent).toMatchObject({ codecs: { video: "h264", audio: null } });
  for (const kind of ["video", "adaptive_video"] as const) {
    expect(createPlan(silent, kind, {})).toMatchObject({ audio: null });
    expect(createPlan(silent, kind, {}).sounds).toBeUndefined();
  }
  expect(dropped("video", {}, silent).map(({ reason }) => reason)).toEqual(["one_track", "one_track"]);
  for (const [track, sample_rate] of [44_100, 48_000].entries())
    expect(createPlan(silent, "audio", { format: "flac", track }).audio).toMatchObject({ sample_rate });
});

test("describes the only film, even a disabled or a still one", async () => {
  const lone = ["-f", "lavfi", "-i", "testsrc=size=64x64:rate=5:duration=1", "-c:v", "mjpeg"];
  for (const more of [
    ["-disposition:v:0", "0"],
    ["-frames:v", "1"],
  ]) {
    const { source } = await probeFile(await makeClip("mp4", [...lone, ...more]));
    expect(source).toMatchObject({ width: 64, codecs: { video: "mjpeg" } });
    expect(source.video_track).toBeUndefined();
  }
});

test("describes the largest picture of an icon", async () => {
  const { source } = await probeFile(await twoSizes());
  expect(source).toMatchObject({ kind: "image", width: 160, height: 120, video_track: 1 });
});

const masked = (width: number, height: number, bits: 8 | 24 = 24) => ({
  data: maskedBitmap({ bits, width, height }),
  width,
  height,
});

async function probeIcon(pictures: readonly IconPicture[]) {
  const icon = writeIcon(pictures);
  const key = pictures.map(({ data, width }) => `${width}-${data.length}`).join();
  return (await probeFile(await keepClip("ico", key, (path) => writeFile(path, icon)))).source;
}

test.each([
  ["more than 4 MiB", [masked(1500, 1000)], { width: 1500 }],
  ["300 pictures", [...Array(299).fill(masked(16, 12)), masked(32, 24)], { width: 32, video_track: 299 }],
])("an icon of %s is transparent where its mask says so", async (_, pictures, facts) => {
  const source = await probeIcon(pictures);
  expect(source).toMatchObject({ kind: "image", has_alpha: true, binary_alpha: true, ...facts });
});

test.each([
  ["more than 16 MiB", masked(2400, 2400)],
  ["16 MiB that more than 24 MiB of pixels with alpha replace", masked(2600, 2600, 8)],
])("an icon of %s is refused", async (_, picture) => {
  await expect(probeIcon([picture])).rejects.toMatchObject({
    kind: "input_too_large",
    message:
      "The icon is too large: with bitmaps, it may have 16 MiB, and 24 MiB once their masks are transparency.",
    retryable: false,
  });
});

test("describes the picture of most colors among the largest of an icon", async () => {
  const trackOf = async (...depths: (4 | 8 | 24 | 32)[]) => {
    const size = { width: 32, height: 24 };
    const pictures = depths.map((bits) => ({ data: maskedBitmap({ bits, ...size, opaque: true }), ...size }));
    return (await probeIcon(pictures)).video_track;
  };
  expect(await trackOf(4, 24, 8)).toBe(1);
  expect(await trackOf(4, 24, 8, 32)).toBe(3);
});
