import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { VideoOptions } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
});
afterAll(() => rig?.close());
beforeEach(() => openKit(rig.lab.page, { name: "size", prefer: "speed" }));
afterEach(async () => {
  await rig.lab.page.evaluate(() => kit.client.close());
  expect(rig.lab.complaints.splice(0)).toEqual([]);
});

const NOISE = "testsrc2=size=480x270:rate=25:duration=6,noise=alls=30:allf=t";
const CALM = "testsrc2=size=480x270:rate=25:duration=6";
const clipOf = (picture: string, extension: string, codec: string) =>
  makeClip(extension, [
    ...["-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", "sine=frequency=400:duration=6"],
    ...["-pix_fmt", "yuv420p", ...codec.split(" "), "-shortest"],
  ]);
const H264 = "-c:v libx264 -preset veryfast -c:a aac -b:a 96k";
const VP9 = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 1500k -c:a libopus -b:a 64k";

async function make(path: string, options: VideoOptions): Promise<{ source: Source; path: string }> {
  const url = await rig.serve(path);
  const seen = await rig.lab.page.evaluate(
    async ([at, options]) => {
      const { client, base64, file } = kit;
      const task = { input: await file(at), kind: "video", options } as Parameters<typeof client.run>[0];
      const { blob, source } = await client.run(task);
      return { source, bytes: await base64(blob) };
    },
    [url, options] as const,
  );
  const out = join(rig.folder, `sized.${seen.source.format}`);
  await writeFile(out, Buffer.from(seen.bytes, "base64"));
  return { source: seen.source, path: out };
}

const bytesOf = async (path: string) => (await stat(path)).size;

test.for([
  { codec: "h264", picture: NOISE, bytes: 150_000 },
  { codec: "h264", picture: NOISE, bytes: 400_000 },
  { codec: "h264", picture: CALM, bytes: 150_000 },
  { codec: "vp9", picture: NOISE, bytes: 150_000 },
  { codec: "vp9", picture: CALM, bytes: 400_000 },
  { codec: "av1", picture: NOISE, bytes: 200_000 },
] as const)("$codec keeps within $bytes bytes at speed: $picture", async ({ codec, picture, bytes }) => {
  const original = await clipOf(picture, "mp4", H264);
  const options = { codec, format: codec === "h264" ? "mp4" : "webm", height: 180 } as const;
  const { source, path } = await make(original, { ...options, target_size: bytes });
  expect(await bytesOf(path)).toBeLessThanOrEqual(bytes);
  expect(source).toMatchObject({ height: 180, codecs: { video: codec }, duration: expect.closeTo(6, 0) });
  expect(source.counts?.pictures).toEqual({ source: 150, output: 150 });
  // The browser's own encoder corrects its first miss; after a second one, another encoder takes over.
  const left = source.refusals?.find(({ encoder }) => encoder === "webcodecs");
  expect(source.encoder === "webcodecs" || left?.code === "output_bytes").toBe(true);
});

test.for([
  { name: "MP4", extension: "mp4", codec: H264, more: 0, options: {} },
  { name: "MP4", extension: "mp4", codec: H264, more: 1, options: {} },
  { name: "MP4", extension: "mp4", codec: H264, more: 900, options: { format: "mov" } },
  { name: "QuickTime", extension: "mov", codec: H264, more: 0, options: {} },
  { name: "Matroska", extension: "mkv", codec: H264, more: 3000, options: {} },
  { name: "WebM", extension: "webm", codec: VP9, more: 3000, options: { format: "webm" } },
] as const)("a $name of $more bytes less than target_size is copied", async (row) => {
  const original = await clipOf(CALM, row.extension, row.codec);
  const bytes = (await bytesOf(original)) + row.more;
  const { source, path } = await make(original, { ...row.options, target_size: bytes });
  expect(source.reason).toBe("Copied without re-encoding.");
  expect(await bytesOf(path)).toBeLessThanOrEqual(bytes);
  expect((await measureLikeness(path, original)).worst).toBe(1);
});

test("a source that a copy's container would push over the limit is encoded", async () => {
  const original = await clipOf(CALM, "mkv", H264);
  const bytes = await bytesOf(original);
  const { source, path } = await make(original, { target_size: bytes });
  expect(source.reason).not.toBe("Copied without re-encoding.");
  expect(await bytesOf(path)).toBeLessThanOrEqual(bytes);
  expect((await readFacts(path)).picture).toMatchObject({ width: 480, height: 270 });
});
