import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCopyEncoder } from "../../src/encoders/copy.ts";
import { copiedBytes } from "../../src/media/rates.ts";
import { CLIP_FOLDER, makeClip } from "../fixtures/make-clip.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { diskReader, probeFile } from "../probe/probe-file.ts";

const H264 = "-c:v libx264 -preset veryfast -bf 2 -c:a aac -b:a 96k";
const VP9 = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 400k -c:a libopus -b:a 64k";

test.for([
  { from: "mp4", codec: H264, to: "mp4" },
  { from: "mp4", codec: `${H264} -movflags +faststart`, to: "mov" },
  { from: "mov", codec: H264, to: "mp4" },
  { from: "mp4", codec: `${H264} -movflags +frag_keyframe+empty_moov`, to: "mp4" },
  { from: "mkv", codec: H264, to: "mp4" },
  { from: "webm", codec: VP9, to: "webm" },
  { from: "mkv", codec: VP9, to: "webm" },
] as const)("a copy of $from ($codec) in $to has no more bytes than planned", async ({ from, codec, to }) => {
  const path = await makeClip(from, [
    ...[
      "-f",
      "lavfi",
      "-i",
      "testsrc2=size=320x180:rate=25:duration=20",
      "-f",
      "lavfi",
      "-i",
      "sine=duration=20",
    ],
    ...["-ac", "2", "-pix_fmt", "yuv420p", ...codec.split(" ")],
  ]);
  const { source } = await probeFile(path);
  const options =
    to === "webm" ? ({ format: to, codec: "vp9", audio_codec: "opus" } as const) : { format: to };
  const plan = createPlan(source, "video", options);
  const [chunk] = plan.chunks;
  const input = await diskReader(path);
  if (!chunk) throw new Error("The plan has no chunk.");
  const { signal } = new AbortController();
  const body = await createCopyEncoder().encode({ plan, source, chunk, input, signal });
  const bytes = new Uint8Array(await new Response(body as ReadableStream<Uint8Array>).arrayBuffer());
  const { max = 0 } = copiedBytes(plan, source) ?? {};
  expect(bytes.length).toBeLessThanOrEqual(max);
  const sameBoxes = from !== "mkv" && from !== "webm" && !codec.includes("frag");
  if (sameBoxes) expect(bytes.length).toBeLessThanOrEqual(input.size);
  const copy = join(CLIP_FOLDER, `copied-size-${process.pid}.${to}`);
  await writeFile(copy, bytes);
  expect((await measureLikeness(copy, path)).worst).toBe(1);
});
