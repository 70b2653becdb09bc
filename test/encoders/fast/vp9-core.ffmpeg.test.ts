import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findBuilt } from "../../../core/cache.ts";
import { type ClipName, clip } from "../../fixtures/clips.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import { readFacts } from "../../judge/facts.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { createPlan } from "../../plan/strict-plan.ts";
import { probe } from "../../probe/probe-file.ts";
import { runFast, VP9_CORE } from "./run-fast.ts";

const folder = await mkdtemp(join(tmpdir(), "framewright-vp9-"));
afterAll(() => rm(folder, { recursive: true }));

async function encode(input: string, options: object): Promise<string> {
  const source = await probe(input);
  const plan = createPlan(source, "video", { format: "webm", ...options });
  const [result] = await runFast({ core: VP9_CORE ?? "", input, plan: { plan, source } });
  expect(result?.error).toBeUndefined();
  const [file] = result?.files ?? [];
  const path = join(await mkdtemp(join(folder, "out-")), file?.name ?? "");
  await writeFile(path, file?.bytes ?? "");
  return path;
}

const REALTIME = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -lag-in-frames 0 -row-mt 0";

// Each takes other ways through libvpx.
const STREAMS = [
  { name: "a constant quality", options: `${REALTIME} -crf 32 -b:v 0` },
  { name: "the best quality", options: `${REALTIME} -crf 4 -b:v 0` },
  { name: "the worst quality", options: `${REALTIME} -crf 60 -b:v 0` },
  { name: "a bitrate", options: `${REALTIME} -b:v 200k -minrate 200k -maxrate 200k -bufsize 200k` },
  { name: "sizes that end within a block", options: `${REALTIME} -vf scale=98:66 -crf 20 -b:v 0` },
  { name: "slower search", options: `${REALTIME} -cpu-used 4 -crf 32 -b:v 0` },
  {
    name: "a look-ahead",
    options: "-c:v libvpx-vp9 -deadline good -cpu-used 4 -lag-in-frames 12 -crf 32 -b:v 0",
  },
  { name: "lossless", options: `${REALTIME} -lossless 1` },
] as const;

describe.skipIf(!VP9_CORE)("the fast core for VP9", () => {
  test.for([
    ["mp4", "h264 and aac"],
    ["mpegts_interlaced", "interlaced"],
    ["webm_vp8", "VP8 and Vorbis"],
    ["mp4_10_bit", "ten bits"],
  ] as const satisfies [ClipName, string][])("reads %s (%s) and encodes each picture", async ([name]) => {
    const input = await clip(name, { seconds: 1 });
    const output = await encode(input, { width: 80, quality: "high", codec: "vp9" });
    const [source, facts] = [await readFacts(input), await readFacts(output)];
    expect(facts.picture).toMatchObject({ codec: "vp9", width: 80 });
    expect(facts.picture?.times).toHaveLength(source.picture?.times.length ?? 0);
    expect(facts.sound?.codec).toBe(source.sound ? "opus" : undefined);
    if (name === "mpegts_interlaced") return;
    const likeness = await measureLikeness(output, input, { filter: "scale=80:44" });
    expect(likeness.mean).toBeGreaterThan(0.9);
  });

  test("maps HDR to SDR", async () => {
    const source =
      "-f lavfi -i testsrc2=s=320x180:r=25:d=1 -c:v libx265 -preset ultrafast -pix_fmt yuv420p10le";
    const hdr = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -tag:v hvc1";
    const input = await makeClip("mp4", `${source} -x265-params log-level=none ${hdr}`.split(" "));
    const output = await encode(input, { width: 160, codec: "vp9" });
    expect((await readFacts(output)).picture).toMatchObject({ codec: "vp9", width: 160 });
    expect((await probe(output)).color).toMatchObject({ transfer: "bt709", bit_depth: 8 });
  });

  test.for(STREAMS)("writes the bytes of scalar code for $name", async ({ options }, { expect }) => {
    const input = await clip("mp4", { seconds: 1, size: "320x180" });
    // Otherwise the file would have random ids.
    const run =
      `-v error -threads 1 -i /in/input -an ${options} -threads 1 -fflags +bitexact /out/output.webm`.split(
        " ",
      );
    const scalar = findBuilt("vp9_scalar") ?? "";
    const [[ours], [theirs]] = [
      await runFast({ core: VP9_CORE ?? "", input, runs: [run] }),
      await runFast({ core: scalar, input, runs: [run] }),
    ];
    expect(ours).toMatchObject({ code: 0, files: [{ name: "output.webm" }] });
    expect(ours?.files[0]?.sha256).toBe(theirs?.files[0]?.sha256);
  });
});
