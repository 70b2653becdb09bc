import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { EncodeKind } from "../../../src/media/formats.ts";
import { type ClipName, clip } from "../../fixtures/clips.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import { readTone } from "../../integrity/read-tone.ts";
import { readFacts } from "../../judge/facts.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { RELAID, relaidClip, resizedClip } from "../../judge/midway-clips.ts";
import { readCovers, taggedSound, taggedVideo } from "../../judge/tags.ts";
import { createPlan } from "../../plan/strict-plan.ts";
import { probe } from "../../probe/probe-file.ts";
import type { FastResult } from "./fast-thread.ts";
import { CORE, runFast } from "./run-fast.ts";

const folder = await mkdtemp(join(tmpdir(), "framewright-fast-"));
afterAll(() => rm(folder, { recursive: true }));

async function save({ files }: FastResult): Promise<string> {
  const home = await mkdtemp(join(folder, "out-"));
  for (const { name, bytes } of files) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), bytes);
  }
  return join(home, files.at(-1)?.name ?? "");
}

async function encode(input: string, kind: EncodeKind, options: object): Promise<FastResult> {
  const source = await probe(input);
  const [result] = await runFast({ input, plan: { plan: createPlan(source, kind, options), source } });
  if (!result) throw new Error("No run.");
  return result;
}

const pngCovered = () => {
  const inputs = "-f lavfi -i anoisesrc=seed=1:d=2 -f lavfi -i testsrc2=s=300x300:d=1:r=1 -map 0 -map 1";
  return makeClip("flac", `${inputs} -c:v png -frames:v 1 -disposition:v attached_pic`.split(" "));
};

// A thousand by FRAMEWRIGHT_CORE_RUNS=1000.
const RUNS = Number(process.env.FRAMEWRIGHT_CORE_RUNS ?? 80);
const RUNS_MS = 120_000 + 600 * RUNS;

const X264 = "-i /in/input -c:v libx264 -preset ultrafast -an /out/output.mp4".split(" ");

describe.skipIf(!CORE)("the fast core", () => {
  test("ends a run over HEVC of 12 bits, which it does not decode, with an error", async () => {
    const pictures = "-f lavfi -i testsrc2=size=128x96:duration=0.2 -c:v libx265 -pix_fmt yuv420p12le";
    const [result] = await runFast({ input: await makeClip("mp4", pictures.split(" ")), runs: [X264] });
    expect(result?.code).toBe(1);
    expect(result?.files.map(({ bytes }) => bytes.length)).toEqual([0]);
    expect(result?.log.at(-1)).toBe("Conversion failed!");
  });

  test.for([
    ["mp4", "h264 and aac"],
    ["mp4_h265", "h265"],
    ["mp4_10_bit", "ten bits"],
    ["mpegts_interlaced", "interlaced"],
    ["mkv", "Matroska"],
    ["avi", "MPEG-4 and MP3"],
    ["flv", "FLV"],
    ["webm", "VP9 and Opus"],
    ["webm_vp8", "VP8 and Vorbis"],
  ] as const satisfies [ClipName, string][])("reads %s (%s) and encodes each picture", async ([name]) => {
    const input = await clip(name, { seconds: 1 });
    const result = await encode(input, "video", { width: 80, quality: "high" });
    expect(result.error).toBeUndefined();
    const output = await save(result);
    const [source, facts] = [await readFacts(input), await readFacts(output)];
    expect(facts.picture).toMatchObject({ codec: "h264", width: 80 });
    expect(facts.picture?.times).toHaveLength(source.picture?.times.length ?? 0);
    expect(result.chunk?.tally.pictures).toMatchObject({ missing: 0, decoded: facts.picture?.times.length });
    expect(result.lines).toBeGreaterThan(0);
    if (name === "mpegts_interlaced") return;
    const likeness = await measureLikeness(output, input, { filter: "scale=80:44" });
    expect(likeness.mean).toBeGreaterThan(0.95);
  });

  test("keeps the time of sound that changes its layout midway", async () => {
    const input = await relaidClip({ late: 0.4 });
    const source = await probe(input);
    const plan = createPlan(source, "adaptive_video", { width: 64 });
    const chunks = plan.chunks.map((chunk) => ({ ...chunk, sound_from: 0.4 }));
    const [result] = await runFast({ input, plan: { plan: { ...plan, chunks }, source } });
    if (!result) throw new Error("No run.");
    expect(result.error).toBeUndefined();
    expect(result.chunk?.tally.heard).toEqual({ from: 0.4, until: expect.closeTo(RELAID.seconds, 1) });
    const { heard, seconds } = await readTone(join(dirname(await save(result)), "audio/playlist.m3u8"));
    expect(heard.filter(({ at, source: from }) => Math.abs(from - at) > 0.1)).toEqual([]);
    expect(Math.abs(seconds - RELAID.seconds)).toBeLessThan(0.1);
  });

  test("counts the pictures before and after a change of their size", async () => {
    const result = await encode(await resizedClip("ts"), "video", { width: 64 });
    expect(result.chunk?.tally.pictures).toMatchObject({ decoded: 60, missing: 0, unreadable: 0 });
    expect((await readFacts(await save(result))).picture?.times).toHaveLength(60);
  });

  test.for([
    { name: "of a song", make: () => taggedSound("m4a"), kind: "audio", format: "mp3" },
    { name: "of a film", make: () => taggedVideo("mp4"), kind: "video", format: "mp4" },
    { name: "in PNG", make: pngCovered, kind: "audio", format: "flac" },
  ] as const)("keeps the cover $name", async ({ make, kind, format }) => {
    const input = await make();
    const output = await save(
      await encode(input, kind, kind === "video" ? { format, width: 160 } : { format }),
    );
    const covers = await readCovers(input);
    expect(covers).toHaveLength(1);
    expect(await readCovers(output)).toEqual(covers);
  });

  test("writes a stream whose playlists and segments ffmpeg plays", async () => {
    const result = await encode(await clip("mp4", { seconds: 3, size: "640x360" }), "adaptive_video", {});
    const output = await save(result);
    expect(output).toMatch(/master\.m3u8$/);
    for (const name of ["360p", "240p"]) {
      const playlist = join(dirname(output), name, "playlist.m3u8");
      expect((await readFacts(playlist)).picture?.times).toHaveLength(75);
    }
  });

  test.for([
    { format: "mp3", codec: "mp3" },
    { format: "opus", codec: "opus" },
    { format: "flac", codec: "flac" },
    { format: "wav", codec: "pcm_s16le" },
  ] as const)("encodes sound as $format", async ({ format, codec }) => {
    // A WAV of lossless sound would have 24 bits, which this core leaves to the stock core.
    const input = await clip(format === "wav" ? "mp4" : "flac", { seconds: 3 });
    const result = await encode(input, "audio", { format });
    const { sound, duration } = await readFacts(await save(result));
    expect(sound?.codec).toBe(codec);
    expect(Math.abs(duration - 3)).toBeLessThan(0.06);
  });

  test(
    "runs again and again with the same bytes, and holds no more memory than before",
    async () => {
      const input = await clip("mp4", { seconds: 1 });
      const short = X264.toSpliced(-1, 0, "-frames:v", "3");
      const results = await runFast({ input, runs: Array.from({ length: RUNS }, () => short) }, RUNS_MS);
      expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0]));
      expect(new Set(results.map(({ files }) => files[0]?.sha256)).size).toBe(1);
      expect(new Set(results.map(({ heap }) => heap)).size).toBe(1);
      const [early, late] = [RUNS / 5, RUNS].map((count) => results[count - 1]?.resident ?? Number.NaN);
      // One run's memory is 32 MiB.
      expect((late ?? 0) - (early ?? 0)).toBeLessThan(64 * 2 ** 20);
    },
    RUNS_MS,
  );

  // The index of an MP4 is moved to its front, and a WAV's header is completed at its end.
  test.for([
    { format: "mp4", args: ["-c:v", "libx264", "-preset", "ultrafast", "-movflags", "+faststart"] },
    { format: "wav", args: ["-vn"] },
  ] as const)("writes the same $format with blocks that leave the memory", async ({ format, args }) => {
    const input = await clip("mp4", { seconds: 3 });
    const exact = ["-fflags", "+bitexact", "-flags", "+bitexact"];
    const runs = [["-i", "/in/input", ...args, ...exact, `/out/output.${format}`]];
    const [whole] = await runFast({ input, runs });
    expect(whole).toMatchObject({ code: 0, moved: 0 });
    for (const spill of [4096, 20_000]) {
      const [spilled] = await runFast({ input, runs, spill });
      expect(spilled?.moved).toBeGreaterThan(0);
      expect(spilled?.files.map(({ sha256 }) => sha256)).toEqual(whole?.files.map(({ sha256 }) => sha256));
    }
  });

  test("returns ffmpeg's exit code and words, and works on", async () => {
    const input = await clip("mp4", { seconds: 1 });
    const wrong = ["-i", "/in/none", "/out/output.mp4"];
    const [failed, next] = await runFast({ input, runs: [wrong, X264] });
    expect(failed).toMatchObject({ code: 1, files: [] });
    expect(failed?.log.at(-1)).toBe("/in/none: No such file or directory");
    expect(next).toMatchObject({ code: 0, files: [{ name: "output.mp4" }] });
  });

  test("reaches no network", async () => {
    const input = await clip("mp4", { seconds: 1 });
    const [result] = await runFast({ input, runs: [["-i", "http://127.0.0.1/x.mp4", "/out/output.mp4"]] });
    expect(result?.log[0]).toBe("(URL) Protocol not found");
  });

  test("passes on a read of bytes that are not loaded", async () => {
    const input = await clip("mp4", { seconds: 1 });
    const [result] = await runFast({ input, runs: [X264], loaded: 100 });
    expect(result?.error).toMatchObject({ name: "PageMiss" });
  });

  test("stays within its memory", async () => {
    const input = await clip("mp4", { seconds: 1, size: "1920x1080" });
    const memory = 48 * 2 ** 20;
    const slow = X264.with(X264.indexOf("ultrafast"), "slow");
    const [result] = await runFast({ input, runs: [slow], memory });
    expect(result?.error).toMatchObject({
      kind: "out_of_memory",
      message: "The work needs more memory than the 48 MB that this encoder has.",
    });
    expect(result?.heap).toBeLessThanOrEqual(memory);
  });

  test("counts what it writes as memory", async () => {
    const input = await clip("mp4", { seconds: 1 });
    const raw = "-i /in/input -c:v libx264 -qp 0 -vf scale=640:-2 -an /out/output.mp4".split(" ");
    const [result] = await runFast({ input, runs: [raw], memory: 33 * 2 ** 20 });
    expect(result?.error).toMatchObject({ kind: "out_of_memory" });
  });
});
