import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createQuota } from "../../../worker/limits/quota.ts";
import { clip } from "../../fixtures/clips.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import { type FrontDoor, openFrontDoor } from "../../judge/front-door.ts";
import { type Rig, startRig } from "../../judge/rig.ts";
import { createMemorySql } from "../api/memory-connections.ts";

const DAY_MS = 86_400_000;

test("counts the bytes of each day by themselves, and nothing that is refused", () => {
  let now = 10.5 * DAY_MS;
  const quota = createQuota(createMemorySql(), { fetched: 100, stored: 50 }, () => now);
  const fetched = [60, 41, 40, 0, 1].map((bytes) => quota.takeFetched(bytes));
  expect(fetched).toEqual([null, "fetched", null, null, "fetched"]);
  now = 11 * DAY_MS;
  expect([quota.takeFetched(100), quota.takeStored(51), quota.takeStored(49)]).toEqual([
    null,
    "stored",
    null,
  ]);
  // Bytes already stored count even beyond the limit; after that nothing more is encoded.
  quota.addStored(20);
  expect([quota.takeStored(1), quota.takeFetched(0)]).toEqual(["stored", "stored"]);
  now = 12 * DAY_MS;
  expect([quota.takeStored(50), quota.takeFetched(0)]).toEqual([null, "stored"]);
});

const KEYS = {
  fetching: "key-of-fetching",
  pinning: "key-of-pinning",
  storing: "key-of-storing",
  other: "key-of-other",
  lasting: "key-of-lasting",
  understating: "key-of-understating",
};
const FETCHED = 5_000_000;
const STORED = 60_000;
const MAX_SECONDS = 10;

let rig: Rig;
const doors = {} as Record<keyof typeof KEYS, FrontDoor>;
beforeAll(async () => {
  rig = await startRig(() => ({
    API_KEYS: Object.entries(KEYS)
      .map((pair) => pair.join(":"))
      .join(),
    DAILY_FETCHED_BYTES: String(FETCHED),
    DAILY_STORED_BYTES: String(STORED),
    MAX_INPUT_SECONDS: String(MAX_SECONDS),
  }));
  for (const [project, key] of Object.entries(KEYS))
    doors[project as keyof typeof KEYS] = openFrontDoor(rig.url, key);
});
afterAll(async () => {
  await Promise.all([rig?.close(), ...Object.values(doors).map((door) => door.close())]);
});

// Without ranges and an ETag the file is copied; `claimed` is whether the server states its size.
function serveWhole(path: string, file: Uint8Array, claimed: boolean): string {
  return rig.origin.serve(path, { file, ranges: false, chunked: !claimed, etag: null });
}

function padded(file: Uint8Array, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  bytes.set(file);
  return bytes;
}

test("what is read of a source by ranges counts too", async () => {
  const sound = await makeClip("wav", [
    ..."-f lavfi -i sine=f=300:sample_rate=96000:duration=5 -ac 2 -c:a pcm_f32le".split(" "),
  ]);
  const input = rig.serve(sound);
  const run = () => doors.pinning.runTask({ input, kind: "audio", options: { format: "mp3" } });
  expect((await run()).status).toBe("succeeded");
  expect(await run()).toMatchObject({
    status: "failed",
    error: { kind: "quota_exceeded", retryable: false },
  });
  const ranges = rig.origin.log.filter(
    ({ headers, path }) => path === new URL(input).pathname && headers.range,
  );
  expect(ranges.length).toBeGreaterThan(0);
});

test("a task beyond the day's bytes to fetch fails before they are read, and other projects are not held up", async () => {
  const picture = await readFile(await clip("png"));
  const image = { kind: "image", options: { width: 20 } } as const;
  const exceeded = { status: "failed", error: { kind: "quota_exceeded", retryable: false } };
  const endless = serveWhole("/endless.png", padded(picture, 2 * FETCHED), false);
  expect(await doors.fetching.runTask({ ...image, input: endless })).toMatchObject(exceeded);
  const large = serveWhole("/large.png", padded(picture, 0.7 * FETCHED), true);
  expect(await doors.fetching.runTask({ ...image, input: large })).toMatchObject({ status: "succeeded" });
  expect(await doors.fetching.runTask({ ...image, input: large })).toMatchObject(exceeded);
  expect(await doors.other.runTask({ ...image, input: large })).toMatchObject({ status: "succeeded" });
  // The rest of the quota still suffices for smaller ones.
  const small = serveWhole("/small.png", picture, true);
  expect(await doors.fetching.runTask({ ...image, input: small })).toMatchObject({ status: "succeeded" });
});

test("a project that has stored its bytes of the day makes no more, nor uploads", async () => {
  const sound = { input: rig.serve(await clip("mp3")), kind: "audio", options: { format: "wav" } } as const;
  const first = await doors.storing.runTask(sound);
  expect(first).toMatchObject({ status: "succeeded" });
  expect(first.steps.at(-1)?.output?.filesize).toBeGreaterThan(STORED);
  for (const input of [sound.input, first.output ?? ""]) {
    expect(await doors.storing.runTask({ ...sound, input })).toMatchObject({
      status: "failed",
      error: { kind: "quota_exceeded", message: expect.stringContaining("store") },
    });
  }
  const upload = { size: 10, content_type: "video/mp4" };
  expect(await doors.storing.request("POST", "/uploads", upload)).toMatchObject({
    status: 429,
    body: { kind: "quota_exceeded" },
  });
  expect((await doors.other.request("POST", "/uploads", upload)).status).toBe(201);
  const large = { ...upload, size: STORED + 1 };
  expect((await doors.other.request("POST", "/uploads", large)).status).toBe(429);
});

test.each([
  { name: "without an ETag", etag: null, seen: 1 },
  // The first request opens it, the second reads it as the pinned source.
  { name: "under the same strong ETag", etag: '"same"', seen: 2 },
])(
  "a server that shows the probe a shorter file of the same size, $name, does not evade the limit of seconds",
  async ({ etag, seen }) => {
    const long = await readFile(await clip("mp4", { size: "160x90", seconds: 2 * MAX_SECONDS }));
    const short = await readFile(await clip("mp4", { size: "160x90", seconds: 1 }));
    // A box of free space pads it to the same size.
    const same = padded(short, long.length);
    new DataView(same.buffer).setUint32(short.length, long.length - short.length);
    same.set(new TextEncoder().encode("free"), short.length + 4);
    let opened = 0;
    const input = rig.origin.serve("/two-faced.mp4", (_, range) => {
      if (range === undefined || range.startsWith("bytes=0-")) opened++;
      return { file: opened > seen ? long : same, etag };
    });
    const task = await doors.lasting.runTask({ input, kind: "video", options: { codec: "h264", width: 80 } });
    expect(task.steps[0]?.output?.duration).toBeLessThan(2);
    if (etag === null) expect(task).toMatchObject({ status: "failed", error: { kind: "input_too_large" } });
    // The encode uses the bytes that the probe read.
    else {
      expect(task).toMatchObject({ status: "succeeded", error: null });
      expect(task.steps[2]?.output?.duration).toBeLessThan(2);
    }
  },
);

// Each header states a duration of one second.
const UNDERSTATED = {
  flv: (bytes: Buffer) => bytes.writeDoubleBE(1, bytes.indexOf("duration\0") + 9),
  // The total number of samples, at 44.1 kHz.
  flac: (bytes: Buffer) => bytes.writeUInt32BE(44_100, 22),
};
test.each([
  {
    format: "flv",
    coded: "-c:v libx264 -pix_fmt yuv420p -c:a aac",
    output: { kind: "video", options: { width: 80 } },
  },
  {
    format: "flv",
    coded: "-c:v libx264 -pix_fmt yuv420p -c:a aac",
    output: { kind: "video", options: { mode: "copy" } },
  },
  { format: "flv", coded: "-c:v libx264 -pix_fmt yuv420p -g 50 -an", output: { kind: "adaptive_video" } },
  { format: "flac", coded: "-map 1:a", output: { kind: "audio", options: { format: "mp3" } } },
] as const)(
  "a $format file ($coded) that lasts longer than it says does not evade the limit of seconds",
  async ({ format, coded, output }) => {
    const inputs = "-f lavfi -i testsrc2=size=160x90:rate=25:duration=20 -f lavfi -i sine=duration=20";
    const file = await readFile(await makeClip(format, `${inputs} ${coded}`.split(" ")));
    UNDERSTATED[format](file);
    const input = rig.origin.serve(`/understated.${format}`, { file });
    const task = await doors.understating.runTask({ ...output, input });
    expect(task).toMatchObject({ status: "failed", output: null, error: { kind: "input_too_large" } });
  },
);
