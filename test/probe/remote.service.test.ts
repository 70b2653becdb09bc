import { readFile, stat } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { probeMedia } from "../../src/probe/probe.ts";
import { createHostGuard } from "../../src/storage/http/host-guard.ts";
import { openHttp } from "../../src/storage/http/reader.ts";
import { clip } from "../fixtures/clips.ts";
import { hugeMp3, hugeMp4, hugeWebm } from "../fixtures/huge.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { type Answer, type Origin, startOrigin } from "../fixtures/origin.ts";
import { diskFile, virtualFile } from "../fixtures/virtual-file.ts";
import { nativeFfprobe } from "./probe-file.ts";

let origin: Origin;
beforeAll(async () => {
  origin = await startOrigin();
});
afterAll(() => origin.close());

const GB = 1_000_000_000;
const options = {
  fetch: (url: string, init: RequestInit) => fetch(url, init),
  guard: createHostGuard({ allowPrivate: true }),
  timeouts: { pauseMs: 5 },
};
const bytesSent = () => origin.log.reduce((sum, { bytes }) => sum + bytes, 0);

async function probeUrl(url: string) {
  const file = await openHttp(url, options);
  if (!file.reader) throw new Error("the origin serves no ranges");
  return probeMedia(file.reader, { url }, nativeFfprobe(url), AbortSignal.timeout(20_000));
}

test.for([
  {
    name: "mp4",
    make: () => hugeMp4(GB),
    facts: { format: "mp4", width: 160, height: 90, fps: 25, duration: 10 },
    requests: 3,
  },
  {
    name: "webm",
    make: () => hugeWebm(GB),
    facts: { format: "webm", width: 160, height: 90, fps: 25, duration: 10.008 },
    requests: 1,
  },
  // The second request looks for an ID3v1 tag at the end.
  {
    name: "mp3",
    make: () => hugeMp3(GB),
    facts: { format: "mp3", audio: { channels: 2, sample_rate: 44_100 } },
    requests: 2,
  },
] as const)(
  "probes a remote $name of 1 GB with few requests and fewer bytes than ffprobe",
  async ({ name, make, facts, requests }) => {
    const url = origin.serve(`/huge.${name}`, { file: await make() });
    origin.forget();
    expect(await probeUrl(url)).toMatchObject(facts);
    const ours = bytesSent();
    expect(origin.log.length).toBeLessThanOrEqual(requests);
    expect(ours).toBeLessThan(300_000);
    origin.forget();
    await runFfprobe(url);
    await expect.poll(() => origin.log.every(({ done }) => done)).toBe(true);
    expect(ours).toBeLessThan(bytesSent());
  },
);

// Noise at a high bitrate in a single cluster, all of which mediabunny alone would read for the first packet.
async function oneCluster(): Promise<string> {
  const pictures = "-f lavfi -i testsrc2=size=640x360:rate=30:duration=3,noise=alls=60:allf=t";
  const codecs = "-c:v libvpx -deadline realtime -cpu-used 8 -b:v 16M -g 1000 -c:a libopus -b:a 64k";
  const limits = "-cluster_time_limit 60000 -cluster_size_limit 100000000";
  const args = `${pictures} -f lavfi -i anoisesrc=seed=1:duration=3 ${codecs} ${limits}`;
  const path = await makeClip("webm", args.split(" "));
  const bytes = await readFile(path);
  const cluster = Buffer.from("1f43b675", "hex");
  expect(bytes.length).toBeGreaterThan(3_000_000);
  expect(bytes.indexOf(cluster)).toBe(bytes.lastIndexOf(cluster));
  return path;
}

test.for([
  { name: "a WebM with DefaultDuration", edit: (bytes: Buffer) => bytes, limit: 200_000 },
  { name: "a WebM without it", edit: withoutDuration, limit: 1_500_000 },
] as const)("probes $name with few bytes, whatever its cluster size", async ({ name, edit, limit }) => {
  const path = await oneCluster();
  const bytes = edit(await readFile(path));
  const url = origin.serve(`/${name.replaceAll(" ", "-")}.webm`, { file: virtualFile([bytes]) });
  origin.forget();
  const source = await probeUrl(url);
  expect(bytesSent()).toBeLessThan(limit);
  expect(source).toMatchObject({ format: "webm", width: 640, height: 360, pixel_format: "yuv420p" });
  expect(source.codecs).toEqual({ video: "vp8", audio: "opus" });
  expect(source.fps).toBeCloseTo(30, 1);
  expect(source.duration).toBeCloseTo(3, 1);
  const [video, audio] = source.streams ?? [];
  const packets = await packetBytes(path);
  expect((video?.bitrate ?? 0) / (packets.video * 8) / (1 / 3)).toBeCloseTo(1, 1);
  expect((audio?.bitrate ?? 0) / (packets.audio * 8) / (1 / 3)).toBeCloseTo(1, 0);
});

// Replaces DefaultDuration with a Void element of the same size.
function withoutDuration(file: Buffer): Buffer {
  const bytes = Buffer.from(file);
  const at = bytes.indexOf(Buffer.from("23e383", "hex"));
  expect(bytes[at + 3]).toBe(0x84);
  bytes.set([0xec, 0x86], at);
  return bytes;
}

async function packetBytes(path: string): Promise<{ video: number; audio: number }> {
  const report = await runFfprobe(path, ["-show_entries", "packet=codec_type,size"]);
  const { packets } = report as { packets: { codec_type: string; size: string }[] };
  const sum = (kind: string) =>
    packets.reduce((bytes, { codec_type, size }) => bytes + (codec_type === kind ? Number(size) : 0), 0);
  return { video: sum("video"), audio: sum("audio") };
}

// Noise that fades in, so that frames of a variable bitrate grow.
const NOISE = "-f lavfi -i anoisesrc=duration=20:color=pink:seed=5,afade=t=in:d=19 -c:a libmp3lame";

test.for([
  { name: "of a constant bitrate, with an Info header", options: "-b:a 128k", error: 0.005 },
  { name: "of a constant bitrate, without", options: "-b:a 320k -write_xing 0", error: 0.005 },
  { name: "of a variable bitrate, with a Xing header", options: "-q:a 2", error: 0.005 },
  // Without a header, every frame has to be read.
  { name: "of a variable bitrate, without", options: "-q:a 2 -write_xing 0", error: 0.05 },
] as const)(
  "probes an MP3 $name with one request of 32 KB, or with the rest of the file when it has no header",
  async ({ name, options, error }) => {
    const path = await makeClip("mp3", `${NOISE} -metadata title=Noise ${options}`.split(" "));
    const url = origin.serve(`/${name.replaceAll(/\W+/g, "-")}.mp3`, { file: diskFile(path) });
    origin.forget();
    const source = await probeUrl(url);
    const bytes = origin.log.map((request) => request.bytes);
    expect(bytes[0]).toBe(32_768);
    expect(bytes).toHaveLength(name.endsWith("without") ? 2 : 1);
    expect(bytesSent()).toBeLessThanOrEqual((await stat(path)).size);
    const { streams, format } = (await runFfprobe(path)) as {
      streams: { bit_rate: string }[];
      format: { duration: string; bit_rate: string };
    };
    expect(Math.abs((source.duration ?? 0) / Number(format.duration) - 1)).toBeLessThan(error);
    expect(Math.abs((source.duration ?? 0) / 20 - 1)).toBeLessThan(0.005);
    expect(source.streams?.[0]?.duration).toBe(source.duration);
    expect(Math.abs((source.bitrate ?? 0) / Number(format.bit_rate) - 1)).toBeLessThan(error);
    expect(Math.abs((source.streams?.[0]?.bitrate ?? 0) / Number(streams[0]?.bit_rate) - 1)).toBeLessThan(
      error,
    );
  },
);

test("reads the last 160 bytes of an MP3 whose first tag describes nothing", async () => {
  const path = await makeClip("mp3", `${NOISE} -b:a 128k`.split(" "));
  const url = origin.serve("/undescribed.mp3", { file: diskFile(path) });
  origin.forget();
  await probeUrl(url);
  expect(origin.log.map(({ bytes }) => bytes)).toEqual([32_768, 160]);
});

test("skips the cover of an MP3", async () => {
  const path = await makeClip("mp3", `${NOISE} -b:a 128k`.split(" "));
  const size = 3_000_000;
  const header = Buffer.from([
    0x49,
    0x44,
    0x33,
    3,
    0,
    0,
    ...[21, 14, 7, 0].map((bits) => (size >> bits) & 0x7f),
  ]);
  const mp3 = await readFile(path);
  const tag = 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (mp3[at] ?? 0), 0);
  const cover = { pattern: Buffer.from("cover"), length: size };
  const url = origin.serve("/cover.mp3", { file: virtualFile([header, cover, mp3.subarray(tag)]) });
  origin.forget();
  const source = await probeUrl(url);
  expect(source.duration).toBeCloseTo(20, 0);
  expect(source.streams?.[0]?.bitrate).toBeGreaterThan(126_000);
  expect(source.streams?.[0]?.bitrate).toBeLessThan(130_000);
  expect(bytesSent()).toBeLessThan(100_000);
});

test("estimates the duration of a long ADTS file without reading all of it", async () => {
  // More than an hour of ADTS, which has no index.
  const clipped = await readFile(await clip("aac"));
  const file = virtualFile([{ pattern: clipped, length: clipped.length * 2000 }]);
  const url = origin.serve("/long.aac", { file });
  origin.forget();
  const source = await probeUrl(url);
  expect(source.duration).toBeGreaterThan(3900);
  expect(source.duration).toBeLessThan(4300);
  expect(bytesSent()).toBeLessThan(300_000);
});

test.for<{ name: string; later: Answer; error: object }>([
  { name: "changes", later: { etag: null }, error: { kind: "input_unreachable", retryable: true } },
  {
    name: "fails",
    later: { status: 503, file: Buffer.from("busy") },
    error: { kind: "input_unreachable", retryable: true },
  },
  { name: "vanishes", later: { status: 404, file: Buffer.from("gone") }, error: { kind: "input_not_found" } },
])("reports the read error of a file that $name during the probe", async ({ name, later, error }) => {
  const file = await hugeMp4(10_000_000);
  const other = await hugeMp4(10_000_001);
  const url = origin.serve(`/${name}`, (request) => (request === 0 ? { file } : { file: other, ...later }));
  await expect(probeUrl(url)).rejects.toMatchObject(error);
});
