import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { keepClip, makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let page: ClientLab;
let service: Rig;
beforeAll(async () => {
  [page, service] = await Promise.all([openClientLab(), openRig()]);
});
afterAll(() => Promise.all([page?.close(), service?.close()]));

const CLUSTER = Buffer.from("1f43b675", "hex");
const SEGMENT = Buffer.from("18538067", "hex");
// More than a Worker can hold.
const DAMAGED = 34 * 1024 * 1024;

/** Returns a clip of four clusters of a second each with noise in place of the first. */
async function damagedClip(): Promise<string> {
  const whole = await makeClip("webm", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=25:duration=4 -c:v libvpx-vp9 -deadline realtime".split(" "),
    ..."-cpu-used 8 -g 25 -cluster_time_limit 1000".split(" "),
  ]);
  return keepClip("webm", `noise of ${DAMAGED} bytes in place of the first cluster`, async (path) => {
    const bytes = await readFile(whole);
    const first = bytes.indexOf(CLUSTER);
    const second = bytes.indexOf(CLUSTER, first + 1);
    const bad = randomBytes(DAMAGED);
    // Some of it looks like the start of a cluster.
    for (let at = 1000; at + 5 < DAMAGED; at += 9_999_991) bad.set([...CLUSTER, 0x84], at);
    // The segment's size is a number of eight bytes.
    const size = bytes.indexOf(SEGMENT) + SEGMENT.length + 2;
    bytes.writeUIntBE(bytes.readUIntBE(size, 6) + bad.length - (second - first), size, 6);
    await writeFile(path, Buffer.concat([bytes.subarray(0, first), bad, bytes.subarray(second)]));
  });
}

/** Returns a clip of 30 s with sound, of which only the last 5 s are left. */
async function shortenedClip(): Promise<string> {
  const whole = await makeClip("webm", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=10:duration=30 -f lavfi -i sine=duration=30".split(" "),
    ..."-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 10 -c:a libopus".split(" "),
    ..."-cluster_time_limit 1000".split(" "),
  ]);
  return keepClip("webm", "the last five of thirty clusters", async (path) => {
    const bytes = await readFile(whole);
    const clusters: number[] = [];
    for (let at = bytes.indexOf(CLUSTER); at >= 0; at = bytes.indexOf(CLUSTER, at + 1)) clusters.push(at);
    const rest = bytes.subarray(clusters.at(-5));
    await writeFile(path, Buffer.concat([bytes.subarray(0, clusters[0]), rest]));
  });
}

async function countFrames(path: string): Promise<number> {
  const { streams } = (await runFfprobe(path, ["-count_frames"])) as {
    streams: { nb_read_frames: string }[];
  };
  return Number(streams[0]?.nb_read_frames);
}

const OPTIONS = { format: "mp4", quality: "low" } as const;

test("the service converts a WebM whose start is noise", async () => {
  const path = await damagedClip();
  expect(await countFrames(path)).toBe(75);
  const input = service.serve(path);
  const output = await service.door.encode({ input, kind: "video", options: OPTIONS });
  expect(await countFrames(output.path)).toBe(75);
});

test.for([
  { prefer: "quality", makeSource: damagedClip },
  { prefer: "speed", makeSource: damagedClip },
  { prefer: "speed", makeSource: shortenedClip },
] as const)(
  "a page that prefers $prefer converts a WebM without its start",
  async ({ prefer, makeSource }) => {
    const source = await makeSource();
    const url = await page.serve(source);
    await openKit(page.lab.page, { name: prefer, prefer, encoderWorkers: 2 });
    const base64 = await page.lab.page.evaluate(
      async ([from, options]) => {
        const { client } = kit;
        const input = await kit.file(from);
        const task = await client.tasks.wait(await client.tasks.create({ kind: "video", input, options }));
        if (task.status !== "succeeded") throw new Error(JSON.stringify(task.error));
        const output = await client.output(task);
        const bytes = await kit.base64(await output.blob());
        await client.close();
        return bytes;
      },
      [url, OPTIONS] as const,
    );
    await page.judge(base64, "made.mp4");
    expect(await countFrames(`${page.folder}/judged/made.mp4`)).toBe(await countFrames(source));
  },
);
