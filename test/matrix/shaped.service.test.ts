import { afterAll, beforeAll, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { noiseClip, noiseSound, surroundClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { ALIKE_SOUND } from "../judge/limits.ts";
import { measureLoudness } from "../judge/loudness.ts";
import { runNative } from "../judge/native.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, levelOf, readSound, recallSound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const AS = { channels: 2, sample_rate: 8000 };

const sound = (extension: string, graph: string, ...args: string[]) =>
  makeClip(extension, ["-f", "lavfi", "-i", graph, ...args]);
// Syllables of noise with pauses, far below full scale.
const SPEECH =
  "anoisesrc=seed=3:color=pink:amplitude=0.4:sample_rate=44100:duration=12,tremolo=f=4:d=0.9,volume='if(lt(mod(t,4),1),0.1,0.5)':eval=frame";
// Beats whose peaks are 17 dB above their loudness, so that raising them needs a limiter.
const BEATS = "sine=f=440:sample_rate=48000:duration=12,volume='7*exp(-mod(t,0.5)*12)':eval=frame";
const MATERIAL = {
  "quiet speech": () => sound("wav", SPEECH),
  "loud noise": () =>
    sound("flac", "anoisesrc=seed=4:color=pink:amplitude=0.9:sample_rate=48000:duration=12"),
  beats: () => sound("wav", BEATS, "-ac", "2"),
  "surround sound": () => surroundClip(6),
} as const;

// The sound is normalized before it is encoded: each material goes to the most exact format, and to the lossy ones where they tell most.
const NORMALIZED = [
  { name: "quiet speech", format: "wav", target_lufs: -16 },
  { name: "quiet speech", format: "mp3", target_lufs: -14 },
  { name: "loud noise", format: "wav", target_lufs: -16 },
  { name: "loud noise", format: "opus", target_lufs: -23 },
  { name: "beats", format: "wav", target_lufs: -16 },
  { name: "beats", format: "mp3", target_lufs: -14 },
  { name: "beats", format: "aac", target_lufs: -16 },
  { name: "surround sound", format: "wav", target_lufs: -16 },
  { name: "surround sound", format: "opus", target_lufs: -23 },
] as const;

test.concurrent.for(NORMALIZED)(
  "$name becomes $target_lufs LUFS in $format",
  LIMIT,
  async ({ name, format, target_lufs }, { expect }) => {
    const options = { format, normalize: true, target_lufs };
    const input = rig.serve(await MATERIAL[name]());
    const output = await rig.door.encode({ input, kind: "audio", options });
    const { integrated, peak } = await measureLoudness(output.path);
    expect(Math.abs(integrated - target_lufs), `${integrated} LUFS`).toBeLessThan(0.5);
    expect(peak).toBeLessThanOrEqual(-1);
  },
);

test.concurrent("the sound of a video and of a stream is normalized too", LIMIT, async ({ expect }) => {
  const input = rig.serve(await noiseClip(6));
  const video = await rig.door.encode({ input, kind: "video", options: { normalize: true } });
  expect(Math.abs((await measureLoudness(video.path)).integrated + 16)).toBeLessThan(0.5);
  // The pictures of an H.264 source are copied.
  expect((await readFacts(video.path)).picture?.times).toHaveLength(150);
  // H.265 is left to the native encoder.
  const native = { codec: "h265", normalize: true, target_lufs: -27, fade_out: 0.1 } as const;
  const heavy = await rig.door.encode({ input, kind: "video", options: native });
  expect(Math.abs((await measureLoudness(heavy.path)).integrated + 27)).toBeLessThan(0.5);
  expect(heavy.task.steps.find(({ kind }) => kind === "video")?.output).toMatchObject({ encoder: "native" });
  const options = { normalize: true, target_lufs: -20, width: 80 } as const;
  const stream = await rig.door.runTask({ input, kind: "adaptive_video", options });
  expect(Math.abs((await measureLoudness(stream.output ?? "")).integrated + 20)).toBeLessThan(0.5);
});

test.concurrent("peaks of a video and of a stream stay below -1 dBTP", LIMIT, async ({ expect }) => {
  const pictures = "-f lavfi -i testsrc2=size=160x96:rate=10:duration=12 -c:v libx264 -c:a flac -ac 2".split(
    " ",
  );
  const input = rig.serve(await makeClip("mkv", ["-f", "lavfi", "-i", BEATS, ...pictures]));
  const options = { normalize: true, target_lufs: -14, width: 80 } as const;
  const { path } = await rig.door.encode({ input, kind: "video", options });
  const stream = await rig.door.runTask({ input, kind: "adaptive_video", options });
  for (const output of [path, stream.output ?? ""]) {
    const { integrated, peak } = await measureLoudness(output);
    expect(Math.abs(integrated + 14), `${integrated} LUFS`).toBeLessThan(0.5);
    expect(peak).toBeLessThanOrEqual(-1);
  }
});

test.concurrent("silence stays silent", LIMIT, async ({ expect }) => {
  const input = rig.serve(await sound("wav", "anullsrc=r=44100:cl=stereo:d=3"));
  const output = await rig.door.encode({ input, kind: "audio", options: { format: "wav", normalize: true } });
  const { channels } = await readSound(output.path, AS);
  expect(channels.map((samples) => Math.max(...samples.map(Math.abs)))).toEqual([0, 0]);
});

test.concurrent.for(["wav", "mp3", "opus", "flac", "ogg"] as const)(
  "volume and fades shape the sound of %s and move nothing",
  LIMIT,
  async (format, { expect }) => {
    const original = await noiseSound("flac", 4);
    const options = { format, quality: "high", volume: 0.5, fade_in: 1, fade_out: 1, start: 0.5, end: 3.5 };
    const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
    const got = await readSound(output.path, AS);
    const expected = await recallSound(original, {
      ...AS,
      after: ["-af", "atrim=0.5:3.5,asetpts=PTS-STARTPTS,volume=0.5"],
    });
    const part = (sound: typeof got, from: number, to: number) => ({
      ...sound,
      channels: sound.channels.map((samples) => samples.subarray(from * 8000, to * 8000)),
    });
    for (const echo of compareSound(part(got, 1.1, 1.9), part(expected, 1.1, 1.9))) {
      expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
      expect(Math.abs(echo.gain)).toBeLessThan(1);
    }
    const level = (sound: typeof got, from: number, to: number) =>
      levelOf(part(sound, from, to).channels[0] as Float32Array);
    const fall = (from: number, to: number) => level(got, from, to) - level(expected, from, to);
    // A linear rise is at half its height, -6 dB, in its middle.
    expect(fall(0.4, 0.6)).toBeGreaterThan(-8);
    expect(fall(0.4, 0.6)).toBeLessThan(-4);
    expect(fall(0, 0.1)).toBeLessThan(-18);
    expect(fall(2.9, 2.98)).toBeLessThan(-18);
  },
);

test.concurrent.for([
  { format: "mp3", channels: 1, sample_rate: 22_050 },
  { format: "aac", channels: 1, sample_rate: 16_000 },
  { format: "ogg", channels: 1, sample_rate: 48_000 },
  { format: "opus", channels: 1, sample_rate: 48_000 },
  { format: "flac", channels: 1, sample_rate: 96_000 },
  { format: "wav", channels: 6, sample_rate: 8000 },
] as const)("$format gets $channels channels at $sample_rate Hz", LIMIT, async (options, { expect }) => {
  const original = await surroundClip(1);
  const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
  const { sound } = await readFacts(output.path);
  expect(sound).toMatchObject({ channels: options.channels, sample_rate: options.sample_rate });
});

test.concurrent("a video is muted, its pictures copied", LIMIT, async ({ expect }) => {
  const input = rig.serve(await noiseClip(2));
  const { path, task } = await rig.door.encode({ input, kind: "video", options: { mute: true } });
  const { picture, sound } = await readFacts(path);
  expect([picture?.times.length, sound]).toEqual([50, null]);
  const encode = task.steps.find(({ kind }) => kind === "video");
  expect(encode?.output).toMatchObject({ dropped: [{ kind: "audio", reason: "asked" }] });
  const stream = await rig.door.runTask({ input, kind: "adaptive_video", options: { mute: true } });
  const { log } = await runNative(["-i", stream.output ?? "", "-f", "null", "-"]);
  expect([...log.matchAll(/Stream #0:\d+.*?: (Video|Audio)/g)].map(([, kind]) => kind)).not.toContain(
    "Audio",
  );
});

test.concurrent("the sound of a video has a bitrate of its own", LIMIT, async ({ expect }) => {
  const input = rig.serve(await noiseClip(6));
  const options = { audio_bitrate: 64_000, channels: 1, sample_rate: 44_100 };
  const { path } = await rig.door.encode({ input, kind: "video", options });
  const { sound } = await readFacts(path);
  expect(sound).toMatchObject({ channels: 1, sample_rate: 44_100 });
  expect(Math.abs((sound?.bitrate ?? 0) / 64_000 - 1)).toBeLessThan(0.15);
});

test.concurrent.for([
  { format: "mp4", audio_codec: "mp3", start: 0.4 },
  { format: "mp4", audio_codec: "opus", width: 80 },
  { format: "mov", audio_codec: "mp3" },
  { format: "webm", audio_codec: "vorbis", width: 80 },
  { format: "mp4", audio_codec: "opus", codec: "h265", width: 80 },
] as const)("a video with $audio_codec in $format", LIMIT, async (options, { expect }) => {
  const original = await noiseClip(2);
  const withBitrate = { ...options, audio_bitrate: 128_000 };
  const { path } = await rig.door.encode({ input: rig.serve(original), kind: "video", options: withBitrate });
  const { sound, picture } = await readFacts(path);
  expect(sound?.codec).toBe(options.audio_codec);
  const start = "start" in options ? options.start : 0;
  expect(picture?.times).toHaveLength(50 - start * 25);
  const cut = ["-af", `atrim=${start},asetpts=PTS-STARTPTS`];
  const expected = await recallSound(original, { ...AS, after: cut });
  for (const echo of compareSound(await readSound(path, AS), expected)) {
    expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    expect(Math.abs(echo.lag)).toBeLessThanOrEqual(0.022);
  }
});

const REFUSED = [
  {
    kind: "audio",
    options: { format: "mp3", channels: 3 },
    message: "options.channels must be at most 2 in mp3.",
  },
  {
    kind: "audio",
    options: { channels: 9 },
    message: "options.channels must be a whole number of channels from 1 to 8.",
  },
  {
    kind: "audio",
    options: { format: "opus", sample_rate: 44_100 },
    message: "options.sample_rate must be one of 48000 in opus.",
  },
  {
    kind: "video",
    options: { sample_rate: 96_000 },
    message:
      "options.sample_rate must be one of 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000 in mp4.",
  },
  { kind: "audio", options: { target_lufs: -14 }, message: "options.target_lufs needs normalize: true." },
  {
    kind: "audio",
    options: { normalize: true, volume: 2 },
    message: "options.volume and options.normalize cannot both be given.",
  },
  {
    kind: "video",
    options: { mute: true, fade_in: 1 },
    message: "options.mute and options.fade_in cannot both be given.",
  },
  {
    kind: "video",
    options: { format: "webm", audio_codec: "aac" },
    message: "webm cannot hold aac here; use opus, vorbis.",
  },
  {
    kind: "video",
    options: { audio_codec: "mp3", channels: 3 },
    message: "options.channels must be at most 2 in mp4.",
  },
  {
    kind: "video",
    options: { mute: true, audio_bitrate: 64_000 },
    message: "options.mute and options.audio_bitrate cannot both be given.",
  },
  {
    kind: "adaptive_video",
    options: { volume: 11 },
    message: "options.volume must be a factor from 0 to 10.",
  },
  { kind: "audio", options: { normalize: "yes" }, message: "options.normalize must be true or false." },
] as const;

test.concurrent.for(REFUSED)(
  "$kind with $options is refused",
  async ({ kind, options, message }, { expect }) => {
    const body = { input: "https://example.com/a.mp4", kind, options };
    const { status, body: answer } = await rig.door.request<{ error: unknown }>("POST", "/tasks", body);
    expect([status, answer]).toMatchObject([400, { message }]);
  },
);

test("fades longer than the output fail", LIMIT, async () => {
  const input = rig.serve(await noiseSound("mp3", 2));
  const task = await rig.door.runTask({ input, kind: "audio", options: { fade_in: 1.5, fade_out: 1 } });
  expect([task.status, task.error]).toMatchObject(["failed", { kind: "invalid_options" }]);
  expect(task.error?.message).toMatch(/^options\.fade_out is longer than the output/);
});
