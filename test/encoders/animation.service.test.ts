import { readFile, stat, writeFile } from "node:fs/promises";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { endAnimation } from "../../src/encoders/images/animation.ts";
import { clip } from "../fixtures/clips.ts";
import { keepClip, makeClip, runFfmpeg, runFfprobeWith } from "../fixtures/make-clip.ts";
import { numberedClip } from "../integrity/numbered.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { readContainer, readWebpAnimation } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const CONTROL = "\x21\xf9\x04";

// Ten frames of 0.1 s, with the durations of some in hundredths of a second.
function unevenGif(delays: Readonly<Record<number, number>>): Promise<string> {
  return keepClip("gif", JSON.stringify(["uneven gif", delays]), async (path) => {
    const bytes = await readFile(await clip("gif_animated", { seconds: 1, rate: 10 }));
    for (let at = bytes.indexOf(CONTROL, 0, "latin1"), frame = 0; at >= 0; frame++) {
      const delay = delays[frame];
      if (delay !== undefined) bytes.writeUInt16LE(delay, at + 4);
      at = bytes.indexOf(CONTROL, at + 1, "latin1");
    }
    await writeFile(path, bytes);
  });
}

async function delaysOf(path: string, format: "gif" | "webp"): Promise<number[]> {
  if (format === "webp") return (await readWebpAnimation(path))?.delays ?? [];
  const args = ["-v", "error", "-of", "json", "-show_entries", "packet=duration_time", path];
  const { packets } = z
    .object({ packets: z.array(z.object({ duration_time: z.coerce.number() })) })
    .parse(await runFfprobeWith(args));
  return packets.map(({ duration_time }) => Math.round(duration_time * 1000));
}

const LIMIT = { timeout: 120_000 };

test.concurrent.for(["gif", "webp"] as const)(
  "each frame of a %s lasts as long as in the source",
  LIMIT,
  async (format, { expect }) => {
    const source = await unevenGif({ 2: 70, 5: 3, 9: 230 });
    const { task, path } = await rig.door.encode({
      ...{ input: rig.serve(source), kind: "image" },
      options: { format, width: 80 },
    });
    expect(await delaysOf(path, format)).toEqual([100, 100, 700, 100, 100, 30, 100, 100, 100, 2300]);
    expect(task.steps[2]?.output?.counts).toEqual({ pictures: { source: 10, output: 10 } });
  },
);

test.concurrent("a GIF cut off within a frame keeps the frames before it", LIMIT, async ({ expect }) => {
  const path = await keepClip("gif", "cut gif", async (target) => {
    const bytes = await readFile(await unevenGif({}));
    const last = bytes.lastIndexOf(CONTROL, undefined, "latin1");
    await writeFile(target, bytes.subarray(0, last + 40));
  });
  const output = await rig.door.encode({
    ...{ input: rig.serve(path), kind: "image" },
    options: { format: "gif" },
  });
  expect((await delaysOf(output.path, "gif")).length).toBeGreaterThanOrEqual(9);
});

// The stretch holds six frames of 0.2 s, and begins at the tenth of the source's.
const STRETCH = { start: 0.4, end: 1.6, fps: 5, width: 160 } as const;
const SHOWN = [12, 17, 22, 27, 32, 37];

// ffmpeg 5.1 reads no animated WebP; libwebp stacks its pictures.
async function decodedWebp(path: string): Promise<string> {
  const stacked = `${path}.png`;
  await sharp(path, { animated: true }).png().toFile(stacked);
  await runFfmpeg(["-i", stacked, "-vf", `untile=1x${SHOWN.length}`, "-c:v", "ffv1", `${path}.mkv`]);
  return `${path}.mkv`;
}

test.concurrent.for([
  { encoder: "light", codec: "-c:v libx264 -preset ultrafast -g 25" },
  { encoder: "native", codec: "-c:v libsvtav1 -preset 10 -g 25" },
] as const)(
  "a stretch of a video becomes animations on $encoder",
  LIMIT,
  async ({ encoder, codec }, { expect }) => {
    const input = rig.serve(await numberedClip({ container: "mp4", frames: 50, codec }));
    const animate = (options: Record<string, unknown>) =>
      rig.door.encode({ input, kind: "animation", options });
    const [gif, webp] = await Promise.all([
      animate({ ...STRETCH, loop: 3 }),
      animate({ ...STRETCH, format: "webp", loop: 3 }),
    ]);
    for (const path of [gif.path, await decodedWebp(webp.path)])
      expect((await readFrames(path)).map(({ number }) => number)).toEqual(SHOWN);
    for (const { path, task } of [gif, webp]) {
      const output = task.steps[2]?.output;
      expect(output).toMatchObject({ encoder, kind: "image", animated: true, width: 160, height: 96 });
      expect(output?.counts?.pictures).toEqual({ source: 30, output: 6 });
      expect(await delaysOf(path, output?.format as "gif" | "webp")).toEqual(Array(6).fill(200));
    }
    expect([gif.mime, webp.mime]).toEqual(["image/gif", "image/webp"]);
    // A GIF is repeated twice after it has played.
    expect(loopOf(await readFile(gif.path), "NETSCAPE2.0", 13)).toBe(2);
    expect(loopOf(await readFile(webp.path), "ANIM", 12)).toBe(3);
  },
);

test.concurrent("a stretch of a video becomes an animated AVIF", LIMIT, async ({ expect }) => {
  const codec = "-c:v libx264 -preset ultrafast -g 25";
  const input = rig.serve(await numberedClip({ container: "mp4", frames: 50, codec }));
  const options = { ...STRETCH, format: "avif", quality: "high" };
  const { path, mime, task } = await rig.door.encode({ input, kind: "animation", options });
  expect((await readFrames(path)).map(({ number }) => number)).toEqual(SHOWN);
  expect(await readContainer(path)).toBe("avif");
  expect(mime).toBe("image/avif");
  expect(task.steps[2]?.output).toMatchObject({
    ...{ encoder: "native", kind: "image", format: "avif", animated: true, width: 160, height: 96 },
    ...{ counts: { pictures: { source: 30, output: 6 } } },
  });
  expect((await readFacts(path)).picture?.duration).toBeCloseTo(1.2, 3);
});

test.concurrent("an AVIF repeats as often as asked, or not at all is said why", LIMIT, async ({ expect }) => {
  const input = rig.serve(await clip("mp4", { seconds: 1 }));
  const task = await rig.door.runTask({
    input,
    kind: "animation",
    options: { format: "avif", loop: 2, end: 0.4 },
  });
  const { output } = await runNative(["-h", "muxer=avif"]);
  if (output.includes("-loop ")) return expect(task.status).toBe("succeeded");
  expect(task.error?.kind).toBe("encoder_unavailable");
  expect(task.error?.message).toContain("cannot limit how often avif repeats");
});

function loopOf(bytes: Buffer, name: string, offset: number): number | null {
  const at = bytes.indexOf(name, 0, "latin1");
  return at < 0 ? null : bytes.readUInt16LE(at + offset);
}

test.concurrent(
  "a GIF is smaller than that of ffmpeg's own palette, and as like the video",
  LIMIT,
  async ({ task, expect }) => {
    const path = await makeClip("mp4", FOOTAGE);
    const output = await rig.door.encode({ input: rig.serve(path), kind: "animation", options: {} });
    expect(output.task.steps[2]?.output).toMatchObject({ format: "gif", width: 480, height: 270 });
    const steps = "fps=12,scale=480:-1:flags=bicubic";
    const palette = `[0:v]${steps},split[a][b];[a]palettegen[p];[b][p]paletteuse`;
    const peer = await keepClip("gif", JSON.stringify(["palettegen", FOOTAGE]), (target) =>
      runFfmpeg(["-i", path, "-filter_complex", palette, target]),
    );
    const compare = (gif: string) => measureLikeness(gif, path, { filter: steps, pixels: "gbrp" });
    const [ours, theirs] = [await compare(output.path), await compare(peer)];
    const bytes = { ours: (await stat(output.path)).size, theirs: (await stat(peer)).size };
    note(task, {
      ssim: ours.mean,
      ssim_palettegen: theirs.mean,
      bytes: bytes.ours,
      bytes_palettegen: bytes.theirs,
    });
    expect([ours.frames, theirs.frames]).toEqual([18, 18]);
    expect(ours.mean).toBeGreaterThan(theirs.mean - 0.01);
    expect(bytes.ours).toBeLessThan(bytes.theirs);
  },
);

// Slow motion with detail and grain; tagged, as ffmpeg takes untagged HD for BT.601.
const FOOTAGE =
  "-f lavfi -i mandelbrot=s=1280x720:rate=25:maxiter=150:end_scale=0.2 -t 1.5 -vf noise=alls=3:allf=t,format=yuv420p -c:v libx264 -preset veryfast -crf 17 -colorspace bt709 -color_primaries bt709 -color_trc bt709".split(
    " ",
  );

test.for([
  { format: "gif", name: "gif_animated", seconds: 3.3 },
  { format: "webp", name: "webp_animated", seconds: 3.3 },
] as const)("sets the end of a $format that arrives byte by byte", async ({ format, name, seconds }) => {
  const bytes = await readFile(await clip(name, { seconds: 1, rate: 10 }));
  const { stream, frames } = endAnimation(format, seconds);
  const single = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const body = single.pipeThrough(stream);
  const ended = Buffer.from(await new Response(body).arrayBuffer());
  expect(frames()).toBe(10);
  expect(ended.length).toBe(bytes.length);
  const path = await keepClip(format, JSON.stringify(["ended", name]), (target) => writeFile(target, ended));
  const delays = await delaysOf(path, format);
  expect(delays.reduce((sum, delay) => sum + delay, 0)).toBe(3300);
  expect(delays.slice(0, -1)).toEqual(Array(9).fill(100));
});

test.for(["lossy", "lossless", "transparent"])("a %s still WebP becomes an animation", async (kind) => {
  const still = sharp(await clip("png_alpha")).webp({ lossless: kind === "lossless" });
  const bytes = await (kind === "lossy" ? still.flatten() : still).toBuffer();
  const { stream, frames } = endAnimation("webp", 2, 5);
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  const ended = Buffer.from(await new Response(body).arrayBuffer());
  expect(frames()).toBe(1);
  expect(await sharp(ended).metadata()).toMatchObject({ delay: [2000], loop: 5, hasAlpha: kind !== "lossy" });
  const pixels = (picture: Buffer) => sharp(picture).ensureAlpha().raw().toBuffer();
  expect(await pixels(ended)).toEqual(await pixels(bytes));
});
