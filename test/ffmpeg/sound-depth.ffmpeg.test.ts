import { expect, test } from "vitest";
import { dropped } from "../../src/media/dropped.ts";
import { alsClip, alsPcm } from "../fixtures/als.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { measureLoudness } from "../judge/loudness.ts";
import { runNative } from "../judge/native.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probeFile } from "../probe/probe-file.ts";
import { encodeChunk } from "./native-encode.ts";

const sine = (codec: string) => ["-f", "lavfi", "-i", "sine=440:d=1:r=48000", "-c:a", codec];

async function encodeSound(path: string, options: Parameters<typeof createPlan<"audio">>[2]) {
  const { source } = await probeFile(path);
  const plan = createPlan(source, "audio", options);
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("A plan of sound has one chunk.");
  const { path: output } = await encodeChunk(path, source, plan, chunk);
  return { output, source, dropped: dropped("audio", options, source) };
}

async function streamOf(path: string) {
  const { streams } = (await runFfprobe(path)) as { streams: Record<string, unknown>[] };
  const { codec_name, sample_fmt, bits_per_raw_sample } = streams[0] ?? {};
  return [codec_name, sample_fmt, Number(bits_per_raw_sample ?? 0)];
}

const LOST = [{ kind: "bit_depth", index: 0, reason: "no_place_in_format" }];

test.for([
  { file: "wav", codec: "pcm_s24le", format: "wav", expected: "pcm_s24le", lost: [] },
  { file: "wav", codec: "pcm_s32le", format: "wav", expected: "pcm_s32le", lost: [] },
  { file: "wav", codec: "pcm_f32le", format: "wav", expected: "pcm_f32le", lost: [] },
  { file: "wav", codec: "pcm_f64le", format: "wav", expected: "pcm_f64le", lost: [] },
  { file: "wav", codec: "pcm_s16le", format: "wav", expected: "pcm_s16le", lost: [] },
  { file: "aiff", codec: "pcm_s24be", format: "wav", expected: "pcm_s24le", lost: [] },
  { file: "mov", codec: "pcm_s24be", format: "wav", expected: "pcm_s24le", lost: [] },
  { file: "mp3", codec: "libmp3lame", format: "wav", expected: "pcm_s16le", lost: [] },
  { file: "wav", codec: "pcm_s24le", format: "flac", expected: "flac 24", lost: [] },
  { file: "wav", codec: "pcm_f32le", format: "flac", expected: "flac 24", lost: LOST },
] as const)(
  "$codec in $file to $format becomes $expected",
  async ({ file, codec, format, expected, lost }) => {
    const path = await makeClip(file, sine(codec));
    for (const options of [{ format }, { format, volume: 0.5 }, { format, start: 0.2 }]) {
      const output = await encodeSound(path, options);
      const [name, , bits] = await streamOf(output.output);
      expect(name === "flac" ? `flac ${bits}` : name).toBe(expected);
      expect(output.dropped.filter(({ kind }) => kind === "bit_depth")).toEqual(lost);
    }
  },
);

test.for([
  ["flac", "flac", ["-sample_fmt", "s32"]],
  ["m4a", "alac", ["-sample_fmt", "s32p"]],
  ["wv", "wavpack", ["-sample_fmt", "s32p"]],
] as const)("sound of 24 bits in %s keeps its depth in WAV and FLAC", async ([file, codec, more]) => {
  const path = await makeClip(file, [...sine(codec), ...more]);
  const bits = Number((await streamOf(path))[2]);
  const wav = bits > 24 ? "pcm_s32le" : "pcm_s24le";
  expect((await streamOf((await encodeSound(path, { format: "wav" })).output))[0]).toBe(wav);
  expect((await streamOf((await encodeSound(path, { format: "flac", volume: 0.9 })).output))[2]).toBe(24);
});

test.for([
  { options: {}, samples: [0, 49_152] },
  { options: { start: 0.3, end: 0.8 }, samples: [14_400, 38_400] },
] as const)(
  "MPEG-4 ALS with $options keeps every sample in WAV",
  async ({ options, samples: [from, to] }) => {
    const { output } = await encodeSound(await alsClip(24), { format: "wav", ...options });
    const pcm = await runNative(["-i", output, "-f", "s24le", "-"]);
    expect(pcm.output.equals(alsPcm(24).subarray(from * 6, to * 6))).toBe(true);
  },
);

const second = (file: string, codec: string, more: readonly string[] = []) =>
  makeClip(file, [
    ..."-f lavfi -i sine=330:d=1:r=44100 -f lavfi -i sine=440:d=1:r=48000 -map 0 -map 1".split(" "),
    ...["-c:a:0", file === "mov" ? "aac" : "flac", "-strict", "-2", "-c:a:1", codec, ...more],
  ]);

test.for([
  { file: "mka", codec: "flac", more: ["-sample_fmt:a:1", "s32"], wav: "pcm_s24le", lost: [] },
  { file: "mka", codec: "pcm_f32le", more: [], wav: "pcm_f32le", lost: LOST },
  { file: "mka", codec: "wavpack", more: ["-sample_fmt:a:1", "fltp"], wav: "pcm_f32le", lost: LOST },
  { file: "mka", codec: "alac", more: ["-sample_fmt:a:1", "s32p"], wav: "pcm_s24le", lost: [] },
  { file: "mka", codec: "truehd", more: ["-sample_fmt:a:1", "s32"], wav: "pcm_s24le", lost: [] },
  { file: "mov", codec: "pcm_s24le", more: [], wav: "pcm_s24le", lost: [] },
  { file: "mov", codec: "pcm_f64be", more: [], wav: "pcm_f64le", lost: LOST },
  { file: "mov", codec: "alac", more: ["-sample_fmt:a:1", "s32p"], wav: "pcm_s24le", lost: [] },
] as const)(
  "$codec as the second track of a $file keeps its depth: $wav",
  async ({ file, codec, more, wav, lost }) => {
    const path = await second(file, codec, more);
    const inWav = await encodeSound(path, { format: "wav", track: 1 });
    expect((await streamOf(inWav.output))[0]).toBe(wav);
    const depthOf = (list: typeof inWav.dropped) => list.filter(({ kind }) => kind === "bit_depth");
    expect(depthOf(inWav.dropped)).toEqual([]);
    const inFlac = await encodeSound(path, { format: "flac", track: 1 });
    expect((await streamOf(inFlac.output))[2]).toBe(24);
    expect(depthOf(inFlac.dropped)).toEqual(lost.map((entry) => ({ ...entry, index: 1 })));
  },
);

test.for([
  ["wv", "wavpack", ["-sample_fmt", "fltp"]],
  ["aiff", "pcm_f32be", []],
  ["mka", "wavpack", ["-sample_fmt", "fltp"]],
] as const)("floats above full scale in %s of %s stay so in a WAV", async ([file, codec, more]) => {
  const path = await makeClip(file, [
    ...["-f", "lavfi", "-i", "aevalsrc=2*sin(2*PI*440*t):d=1:s=48000", "-c:a", codec, ...more],
  ]);
  const { output } = await encodeSound(path, { format: "wav" });
  expect((await streamOf(output))[0]).toBe("pcm_f32le");
  const { log } = await runNative(["-i", output, "-af", "astats=measure_perchannel=none", "-f", "null", "-"]);
  expect(Number(/Peak level dB: (-?[\d.]+)/.exec(log)?.[1])).toBeCloseTo(6.02, 1);
});

const loud = (channels: string, count: number) =>
  makeClip("wav", [
    "-f",
    "lavfi",
    "-i",
    `aevalsrc=${Array.from({ length: count }, () => "0.95*sin(2*PI*440*t)").join("|")}:c=${channels}:d=2:s=48000,afade=d=0.3,areverse,afade=d=0.3,areverse`,
  ]);

test.for([
  ["5.1", 6, 2],
  ["7.1", 8, 2],
  ["quad", 4, 2],
  ["5.1", 6, 1],
  ["stereo", 2, 1],
] as const)(
  "loud %s of %i channels mixed down to %i has one level in all formats, below clipping",
  async ([layout, count, channels]) => {
    const path = await loud(layout, count);
    const levels: number[] = [];
    for (const format of ["wav", "flac", "mp3", "aac", "ogg", "opus"] as const) {
      const { output } = await encodeSound(path, { format, channels });
      const { integrated } = await measureLoudness(output);
      levels.push(integrated);
      const args = [
        "-i",
        output,
        "-af",
        "astats=measure_perchannel=none:measure_overall=Peak_level",
        "-f",
        "null",
        "-",
      ];
      const { log } = await runNative(args);
      expect(Number(/Peak level dB: (-?[\d.]+)/.exec(log)?.[1]), format).toBeLessThan(0.3);
    }
    expect(Math.max(...levels) - Math.min(...levels)).toBeLessThan(0.7);
  },
);
