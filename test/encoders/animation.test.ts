import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { endAnimation } from "../../src/encoders/images/animation.ts";
import { clip } from "../fixtures/clips.ts";
import { keepClip, runFfprobeWith } from "../fixtures/make-clip.ts";
import { readWebpAnimation } from "../judge/container.ts";
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
  const path = await keepClip("gif", "cut gif", async (made) => {
    const bytes = await readFile(await unevenGif({}));
    const last = bytes.lastIndexOf(CONTROL, undefined, "latin1");
    await writeFile(made, bytes.subarray(0, last + 40));
  });
  const output = await rig.door.encode({
    ...{ input: rig.serve(path), kind: "image" },
    options: { format: "gif" },
  });
  expect((await delaysOf(output.path, "gif")).length).toBeGreaterThanOrEqual(9);
});

test.for([
  ["gif", "gif_animated", 3.3],
  ["webp", "webp_animated", 3.3],
] as const)("sets the end of a %s that arrives byte by byte", async ([format, name, seconds]) => {
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
  const path = await keepClip(format, JSON.stringify(["ended", name]), (made) => writeFile(made, ended));
  const delays = await delaysOf(path, format);
  expect(delays.reduce((sum, delay) => sum + delay, 0)).toBe(3300);
  expect(delays.slice(0, -1)).toEqual(Array(9).fill(100));
});

test("passes a still WebP on", async () => {
  const bytes = await readFile(await clip("webp"));
  const { stream, frames } = endAnimation("webp", 2);
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  expect(Buffer.from(await new Response(body).arrayBuffer())).toEqual(bytes);
  expect(frames()).toBe(0);
});
