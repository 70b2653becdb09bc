import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { estimateOutput } from "../../src/runs/steps/estimate.ts";
import { openNativeSample } from "../encoders/native-sample.ts";
import { makeClip } from "../fixtures/make-clip.ts";

const home = await mkdtemp(join(tmpdir(), "framewright-estimate-"));
afterAll(() => rm(home, { recursive: true }));

test("an estimate of a still video counts the encoder's settings and the index at their real size", async () => {
  const clip = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "smptehdbars=s=640x360:r=25", "-t", "24"],
    ...["-c:v", "libx264", "-pix_fmt", "yuv420p"],
  ]);
  const request = { kind: "video", options: { width: 480 } } as const;
  const { sample } = await openNativeSample(clip, request, {
    folder: home,
    chunk_seconds: null,
    toolset: WASM_TOOLS,
  });
  let middle = 0;
  for await (const { bytes } of estimateOutput(sample)) middle = (bytes.low + bytes.high) / 2;
  const { size } = await sample.encode();
  expect(Math.abs(middle / size - 1)).toBeLessThan(0.05);
});
