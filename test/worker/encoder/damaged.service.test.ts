import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EncodeKind } from "../../../src/media/formats.ts";
import { createPlan } from "../../../src/media/index.ts";
import { type ClipName, clip } from "../../fixtures/clips.ts";
import { noiseBytes, virtualFile } from "../../fixtures/virtual-file.ts";
import { type EncoderRig, openReader, startEncoder } from "./rig.ts";

let rig: EncoderRig;
beforeAll(async () => {
  rig = await startEncoder();
});
afterAll(() => rig.close());

const FILES: { name: ClipName; kind: EncodeKind; options: Record<string, unknown> }[] = [
  { name: "mp4_faststart", kind: "video", options: { width: 80 } },
  { name: "mp4_faststart", kind: "audio", options: { format: "mp3" } },
  { name: "mp4_faststart", kind: "video", options: {} },
  { name: "mp4_faststart", kind: "adaptive_video", options: {} },
  { name: "mkv", kind: "video", options: { width: 80 } },
  { name: "webm", kind: "video", options: { format: "webm", width: 80 } },
  { name: "flac", kind: "audio", options: { format: "opus" } },
  { name: "wav", kind: "audio", options: { format: "flac" } },
  { name: "jpeg", kind: "image", options: { width: 80 } },
  { name: "png", kind: "image", options: { format: "webp" } },
  { name: "gif", kind: "image", options: { format: "png" } },
];

test.for(FILES)("rejects a truncated $name for $kind: $options", async ({ name, kind, options }) => {
  const file = await readFile(await clip(name));
  const whole = await rig.encode(virtualFile([file]), kind, options);
  expect(whole.chunks[0]?.length).toBeGreaterThan(0);

  const cut = virtualFile([file.subarray(0, Math.floor(file.length * 0.55))]);
  const source = { ...whole.source, filesize: cut.size };
  const plan = createPlan(source, kind, options);
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("There is no chunk.");
  const job = { plan, chunk, source, input: openReader(cut), signal: AbortSignal.timeout(120_000) };
  await expect(rig.light.encode(job).then(() => "done")).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringMatching(/cut off|damaged/),
    retryable: false,
  });
});

test("survives random bytes in place of the pictures", async () => {
  const file = Buffer.from(await readFile(await clip("mp4_faststart")));
  const start = file.indexOf("mdat") + 4;
  noiseBytes(8000).copy(file, start);
  const outcome = await rig.encode(virtualFile([file]), "video", { width: 80 }).then(
    () => "done",
    (thrown: { kind: string }) => thrown.kind,
  );
  expect(["done", "input_unsupported", "encode_failed"]).toContain(outcome);
  const after = await rig.encode(await clip("mp4"), "video", { width: 80 });
  expect(after.chunks[0]?.[0]?.bytes.length).toBeGreaterThan(1000);
});
