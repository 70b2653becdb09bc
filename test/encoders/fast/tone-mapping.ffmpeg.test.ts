import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeClip } from "../../fixtures/make-clip.ts";
import { readFacts } from "../../judge/facts.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { runNative } from "../../judge/native.ts";
import { createPlan } from "../../plan/strict-plan.ts";
import { probe } from "../../probe/probe-file.ts";
import type { FastResult } from "./fast-thread.ts";
import { CORE, runFast } from "./run-fast.ts";

const folder = await mkdtemp(join(tmpdir(), "framewright-tone-mapping-"));
afterAll(() => rm(folder, { recursive: true }));

interface Hdr {
  transfer: "smpte2084" | "arib-std-b67";
  pixels?: "yuv420p10le" | "yuv422p10le";
  range?: "tv" | "pc";
  /** Metadata of the brightest light, as x265 writes it. */
  light?: string;
  size?: string;
}

// Within BT.709's colors: beyond them, native zscale leaves negative light, and the stock core and ours none.
function hdrClip({ transfer, pixels = "yuv420p10le", range = "tv", light = "", size = "160x96" }: Hdr) {
  const drawn =
    "format=yuv444p,hue=s=0.5,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=tv";
  const linear = "zscale=pin=bt709:tin=bt709:min=bt709:rin=tv:t=linear:npl=203,format=gbrpf32le";
  const hdr = `zscale=p=bt2020:t=${transfer}:m=bt2020nc:r=${range}:npl=203,format=${pixels}`;
  const named = `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc:range=${range === "tv" ? "limited" : "full"}`;
  const params = `log-level=none:pools=1:${named}${light}`;
  const tags = `-color_primaries bt2020 -color_trc ${transfer} -colorspace bt2020nc -color_range ${range}`;
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", `testsrc2=s=${size}:r=25:d=0.4`, "-vf", `${drawn},${linear},${hdr}`],
    ...["-c:v", "libx265", "-preset", "ultrafast", "-crf", "8", "-x265-params", params, "-tag:v", "hvc1"],
    ...tags.split(" "),
  ]);
}

const DISPLAY = "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(40000000,50)";

const CASES: [string, Hdr, string?][] = [
  ["PQ", { transfer: "smpte2084" }],
  ["HLG", { transfer: "arib-std-b67" }],
  ["PQ from a display of 4000 cd/m²", { transfer: "smpte2084", light: `:hdr10=1:${DISPLAY}` }],
  ["PQ with a peak of 600 cd/m²", { transfer: "smpte2084", light: `:hdr10=1:${DISPLAY}:max-cll=600,300` }],
  ["HLG of full range", { transfer: "arib-std-b67", range: "pc" }],
  ["chroma at full height", { transfer: "arib-std-b67", pixels: "yuv422p10le" }],
  ["odd sizes", { transfer: "smpte2084" }, "crop=119:81:0:0:exact=1,"],
  ["scaled pictures", { transfer: "smpte2084", size: "322x182" }, "scale=214:121:flags=bicubic,"],
];

// Every other encoder has this filter.
const zscale = (transfer: Hdr["transfer"]) =>
  `format=yuv444p10le,zscale=pin=bt2020:tin=${transfer}:min=bt2020nc:rin=limited:t=linear:npl=100,format=gbrpf32le,` +
  "zscale=p=bt709,tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=limited";

/** The mean Y, U and V of a video's first picture. */
async function meanColor(path: string, filter: string): Promise<number[]> {
  const mean = `${filter},format=yuv444p,scale=1:1:flags=area,format=yuv444p`;
  const { output } = await runNative([...["-i", path, "-vf", mean, "-frames:v", "1", "-f", "rawvideo", "-"]]);
  return [...output];
}

async function save(result: FastResult | undefined): Promise<string> {
  const output = join(await mkdtemp(join(folder, "out-")), "output.mp4");
  expect(result?.error).toBeUndefined();
  await writeFile(output, result?.files[0]?.bytes ?? "");
  return output;
}

describe.skipIf(!CORE)("the fast core", () => {
  test.for(CASES)("maps %s to SDR as zscale and tonemap do", async ([, hdr, before = ""]) => {
    const input = await hdrClip(hdr);
    const filter = `${before}tonemap_bt709=pin=bt2020:tin=${hdr.transfer}:min=bt2020nc`;
    const run = `-i /in/input -an -vf ${filter} -c:v libx264 -preset ultrafast -qp 0 /out/output.mp4`;
    const [result] = await runFast({ input, runs: [run.split(" ")] });
    const compared = { filter: `${before}${zscale(hdr.transfer)}`, pixels: "yuv444p" };
    const output = await save(result);
    const { worst, frames } = await measureLikeness(output, input, compared);
    expect(frames).toBe(10);
    expect(worst).toBeGreaterThan(0.994);
    const [ours, theirs] = [await meanColor(output, "null"), await meanColor(input, compared.filter)];
    expect(ours).toHaveLength(3);
    expect(Math.max(...ours.map((mean, i) => Math.abs(mean - (theirs[i] ?? 0))))).toBeLessThanOrEqual(1);
  });

  test("encodes HDR as SDR and tags it so", async () => {
    const input = await hdrClip({ transfer: "arib-std-b67", size: "640x360" });
    const source = await probe(input);
    const plan = createPlan(source, "video", { codec: "h264", width: 320, quality: "very_high" });
    const [result] = await runFast({ input, plan: { plan, source } });
    const output = await save(result);
    const { picture } = await readFacts(output);
    expect(picture).toMatchObject({ width: 320, pixel_format: "yuv420p", transfer: "bt709" });
    const filter = `scale=320:180:flags=bicubic,${zscale("arib-std-b67")}`;
    expect((await measureLikeness(output, input, { filter })).mean).toBeGreaterThan(0.98);
  });
});
