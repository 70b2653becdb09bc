import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runCore } from "./run-core.ts";

const MIB = 1_048_576;
const args = (text: string) => text.split(" ");
// The encoders with the largest stacks, audio, and a missing input.
const JOBS = {
  vp9: args(
    "-i /in/input -an -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 300k -bitexact /out/a.webm",
  ),
  jpeg: args("-i /in/input -frames:v 1 -s 1280x720 -c:v mjpeg -q:v 3 /out/a.jpg"),
  mp3: args("-i /in/input -vn -c:a libmp3lame -bitexact /out/a.mp3"),
  missing: args("-i /in/nothing /out/a.wav"),
  webp: args("-i /in/input -frames:v 1 /out/a.webp"),
  h264: args("-i /in/input -an -c:v libx264 -preset veryfast -bitexact /out/a.mp4"),
} as const;
const NAMES = Object.keys(JOBS) as (keyof typeof JOBS)[];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-core-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.for([
  { name: "a fresh core for each run", cores: "fresh", count: 54 },
  { name: "a core for each run in one reused instance", cores: "kept", count: 60 },
  { name: "one core for all runs", cores: "one", count: 90 },
] as const)("$name: repeated jobs give identical files and leak no memory", async ({ cores, count }) => {
  const input = await clip("mp4", { seconds: 0.4 });
  const runs = Array.from({ length: count }, (_, n) => JOBS[NAMES[n % NAMES.length] ?? "mp3"]);
  const results = await runCore({ input, runs, cores, memory: 96 * MIB });
  expect(results).toHaveLength(count);
  results.forEach((result, n) => {
    const name = NAMES[n % NAMES.length];
    const first = results[n % NAMES.length];
    expect([name, n, result.error?.message, result.code]).toEqual([
      name,
      n,
      undefined,
      name === "missing" ? 1 : 0,
    ]);
    expect(result.files.map((file) => file.sha256)).toEqual(first?.files.map((file) => file.sha256));
  });
  // The heap must not outgrow that of the first round.
  const heap = Math.max(...results.slice(0, NAMES.length).map((result) => result.heap));
  const spare = cores === "one" ? 12 * MIB : 0;
  expect(Math.max(...results.map((result) => result.heap))).toBeLessThanOrEqual(heap + spare);

  for (const name of ["vp9", "jpeg"] as const) {
    const file = results[NAMES.indexOf(name)]?.files[0];
    const path = join(folder, `${cores}-${file?.name}`);
    await writeFile(path, file?.bytes ?? "");
    const filter = name === "jpeg" ? "select=eq(n\\,0),scale=1280:720" : "null";
    expect((await measureLikeness(path, input, { filter })).worst).toBeGreaterThan(0.9);
  }
});

test("ffprobe returns a report, or null for an input that does not exist", async () => {
  const runs = [
    args("-v error -show_format -show_streams /in/input"),
    args("-v error -show_format /in/nothing"),
  ];
  const [good, bad] = await runCore({ input: await clip("avi"), runs, cores: "fresh", probe: true });
  const native = (await runFfprobe(await clip("avi"))) as { streams: { codec_name: string }[] };
  expect(good?.report).toMatchObject({
    format: { format_name: "avi" },
    streams: native.streams.map(({ codec_name }) => ({ codec_name })),
  });
  expect(bad?.report).toBeNull();
  expect(bad?.log).toEqual(["/in/nothing: No such file or directory"]);
});

test("a job beyond its memory ends with out_of_memory, and the next one works", async () => {
  const large = args("-f lavfi -i testsrc2=s=1920x1080:d=1 -c:v libx264 -preset medium /out/a.mp4");
  const runs = [JOBS.mp3, large, JOBS.mp3, large, JOBS.jpeg];
  const input = await clip("mp4");
  for (const cores of ["fresh", "kept"] as const) {
    const results = await runCore({ input, runs, cores, memory: 96 * MIB });
    expect(results.map((result) => result.error?.kind ?? result.code)).toEqual([
      0,
      "out_of_memory",
      0,
      "out_of_memory",
      0,
    ]);
    for (const result of results) expect(result.heap).toBeLessThanOrEqual(96 * MIB);
    expect(results[2]?.files[0]?.sha256).toBe(results[0]?.files[0]?.sha256);
  }
});

test("the memory limit includes files that a job writes", async () => {
  const endless = args("-f lavfi -i anullsrc=d=100000 -c:a pcm_s16le /out/a.wav");
  const [result] = await runCore({
    input: await clip("mp4"),
    runs: [endless],
    cores: "fresh",
    memory: 64 * MIB,
  });
  expect(result?.error).toEqual({
    kind: "out_of_memory",
    message: "The work needs more memory than the 64 MB that this encoder has.",
  });
});

test("a growing file frees its old buffers and stays intact", async () => {
  const task = {
    input: await clip("mp4"),
    runs: [args("-f lavfi -i sine=d=30:r=48000 -c:a pcm_s16le -bitexact /out/a.wav")],
    cores: "fresh",
  } as const;
  const [plain] = await runCore(task);
  const [thrifty] = await runCore({ ...task, frees_unused: true });
  const [file] = thrifty?.files ?? [];
  expect(file).toMatchObject({ name: "a.wav", sha256: plain?.files[0]?.sha256 });
  expect(file?.bytes.length).toBe(44 + 30 * 48_000 * 2);
  expect(plain?.freed).toEqual([]);
  const freed = thrifty?.freed ?? [];
  expect(freed).toEqual(freed.toSorted((a, b) => a - b));
  expect(freed.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(4 * (file?.bytes.length ?? 0));
});

test("a crash of the core fails with encode_failed, as do later runs in it", async () => {
  // When color facts are missing, zimg throws a C++ exception that the core does not catch.
  const broken = args("-f lavfi -i testsrc2=d=0.1 -vf zscale=t=linear -frames:v 1 /out/a.png");
  const results = await runCore({ input: await clip("mp4"), runs: [broken, JOBS.mp3], cores: "one" });
  expect(results.map((result) => result.error)).toEqual([
    { kind: "encode_failed", message: expect.stringMatching(/^The encoder crashed on this file\./) },
    { kind: "encode_failed", message: "The encoder crashed in an earlier run." },
  ]);
});

test("the core has no network access", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const urls = ["http", "tcp"].map((scheme) => `${scheme}://127.0.0.1:${port}`);
  const runs = urls.map((url) => ["-i", url, "/out/a.wav"]);
  const results = await runCore({ input: await clip("mp4"), runs, cores: "fresh" });
  expect(results.map(({ code }) => code)).toEqual([1, 1]);
  expect(connections).toBe(0);
  await fetch(`http://127.0.0.1:${port}`).catch(() => {});
  expect(connections).toBe(1);
  server.close();
});
