import { describe, expect, test } from "vitest";
import { findBuilt } from "../../../core/cache.ts";
import { type ClipName, clip } from "../../fixtures/clips.ts";
import { INTEGRITY_SOURCES, type IntegritySource } from "../../integrity/sources.ts";
import { CORE, runCheck, runFast } from "./run-fast.ts";

// The presets between these take the path of one of them.
const PRESETS = ["ultrafast", "veryfast", "fast", "medium", "slow"] as const;

// Each takes other ways through the libraries.
const STREAMS = [
  ["a constant rate factor", "mp4", "-crf 23"],
  ["an average bitrate with a buffer", "mp4", "-b:v 200k -maxrate 250k -bufsize 300k"],
  ["constant quantizers up to lossless", "mp4", "-qp 0"],
  ["interlaced pictures", "mpegts_interlaced", "-flags +ilme+ildct -x264opts tff=1 -crf 20"],
  ["odd sizes", "mp4", "-vf scale=98:66 -crf 23"],
  ["sizes that end within a block", "mp4", "-vf scale=322:182 -crf 18"],
  ["weighted prediction", "mp4", "-vf format=yuv420p,fps=5,fps=25 -x264-params weightp=2:weightb=1 -crf 26"],
  ["chroma at half height", "mp4", "-pix_fmt yuv422p -crf 23"],
  ["full chroma", "mp4", "-pix_fmt yuv444p -crf 23"],
  ["10 bits that become 8", "mp4_10_bit", "-pix_fmt yuv420p -crf 26"],
  ["10 bits, scaled", "mp4_10_bit", "-vf scale=130:74,format=yuv420p -crf 26"],
  ["a limited range that becomes full", "mp4", "-vf scale=out_range=full -crf 26"],
  ["deinterlaced pictures", "mp4_interlaced", "-vf yadif,scale=42:24 -crf 26"],
] as const satisfies [string, ClipName, string][];

const SOUNDS = [
  ["MP3", "aac", ["-b:a 128k", "-b:a 320k", "-q:a 2", "-b:a 32k -ar 22050 -ac 1"], "-c:a libmp3lame -f mp3"],
  ["AAC", "wav", ["-b:a 128k", "-b:a 32k", "-aac_coder fast", "-q:a 2"], "-c:a aac -f adts"],
  ["resampled sound", "wav", ["-ar 48000", "-ar 22050", "-ar 11025"], "-c:a pcm_s16le -f wav"],
] as const satisfies [string, ClipName, string[], string][];

// The core has no decoder of AV1.
const READABLE = Object.entries<IntegritySource>(INTEGRITY_SOURCES).filter(
  ([name]) => name !== "av1_forward",
);

describe.skipIf(!CORE)("the kernels", () => {
  test("return what the scalar functions return, on random and extreme input", async () => {
    const { code, output } = await runCheck();
    expect(output.filter((line) => /differs|unchecked/.test(line))).toEqual([]);
    expect(code).toBe(0);
    // A missing wrap of the linker would lose the kernels of its table.
    expect(output.at(-1)).toMatch(/^1179 kernels/);
  });

  test.for(STREAMS)("write the bytes of scalar code for %s", async ([, name, options], { expect }) => {
    const input = await clip(name, { seconds: 1 });
    const runs = PRESETS.map((preset) =>
      `-v error -i /in/input -an -c:v libx264 -preset ${preset} ${options} /out/output.mp4`.split(" "),
    );
    const scalar = findBuilt("scalar") ?? "";
    const [ours, theirs] = [await runFast({ input, runs }), await runFast({ input, runs, core: scalar })];
    expect(ours.map(({ code }) => code)).toEqual(PRESETS.map(() => 0));
    expect(ours.map(({ files }) => files[0]?.sha256)).toEqual(theirs.map(({ files }) => files[0]?.sha256));
  });

  test.for(READABLE)("write the bytes of scalar code for the source %s", async ([, source], { expect }) => {
    const [container = "mp4"] = source.containers;
    const input = await source.make(container);
    const runs = ["-v error -i /in/input -an -c:v libx264 -preset veryfast /out/output.mp4".split(" ")];
    const scalar = findBuilt("scalar") ?? "";
    const [ours, theirs] = [await runFast({ input, runs }), await runFast({ input, runs, core: scalar })];
    expect(ours.map(({ code }) => code)).toEqual([0]);
    expect(ours.map(({ files }) => files[0]?.sha256)).toEqual(theirs.map(({ files }) => files[0]?.sha256));
  });

  test.for(SOUNDS)("write the bytes of scalar code for %s", async ([, name, options, rest], { expect }) => {
    const input = await clip(name, { seconds: 3 });
    const runs = options.map((each) =>
      `-v error -i /in/input -vn ${each} ${rest} -bitexact /out/output`.split(" "),
    );
    const scalar = findBuilt("scalar") ?? "";
    const [ours, theirs] = [await runFast({ input, runs }), await runFast({ input, runs, core: scalar })];
    expect(ours.map(({ code }) => code)).toEqual(options.map(() => 0));
    expect(ours.map(({ files }) => files[0]?.sha256)).toEqual(theirs.map(({ files }) => files[0]?.sha256));
  });
});
