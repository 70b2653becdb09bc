import { afterAll, beforeAll, expect, test } from "vitest";
import { probeMedia } from "../../src/probe/probe.ts";
import { createHostGuard } from "../../src/storage/host-guard.ts";
import { openHttp } from "../../src/storage/http-reader.ts";
import { clip } from "../fixtures/clips.ts";
import { hugeMp3, hugeMp4, hugeWebm } from "../fixtures/huge.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { type Answer, type Origin, startOrigin } from "../fixtures/origin.ts";
import { virtualFile } from "../fixtures/virtual-file.ts";
import { nativeFfprobe } from "./probe-file.ts";

let origin: Origin;
beforeAll(async () => {
  origin = await startOrigin();
});
afterAll(() => origin.close());

const GB = 1_000_000_000;
const options = {
  fetch: (url: string, init: RequestInit) => fetch(url, init),
  guard: createHostGuard({ allow_private: true }),
};
const bytesSent = () => origin.log.reduce((sum, { bytes }) => sum + bytes, 0);

async function probeUrl(url: string) {
  const file = await openHttp(url, options);
  if (!file.reader) throw new Error("The origin has no ranges.");
  return probeMedia(file.reader, { url }, nativeFfprobe(url), AbortSignal.timeout(20_000));
}

test.for([
  ["mp4", () => hugeMp4(GB), { format: "mp4", width: 160, height: 90, fps: 25, duration: 10 }, 3],
  ["webm", () => hugeWebm(GB), { format: "webm", width: 160, height: 90, fps: 25, duration: 10.008 }, 4],
  ["mp3", () => hugeMp3(GB), { format: "mp3", audio: { channels: 2, sample_rate: 44_100 } }, 3],
] as const)(
  "a remote %s of 1 GB costs few requests and fewer bytes than ffprobe reads",
  { timeout: 60_000 },
  async ([name, make, facts, requests]) => {
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

test("a file whose index is beyond the bounds is still described, but for what would need all of it", async () => {
  // An hour and more of ADTS has no index: its length is told from its size.
  const clipped = await import("node:fs/promises").then(async ({ readFile }) => readFile(await clip("aac")));
  const file = virtualFile([{ pattern: clipped, length: clipped.length * 2000 }]);
  const url = origin.serve("/long.aac", { file });
  origin.forget();
  const source = await probeUrl(url);
  expect(source.duration).toBeGreaterThan(3900);
  expect(source.duration).toBeLessThan(4300);
  expect(bytesSent()).toBeLessThan(300_000);
});

test.for<readonly [string, Answer, object]>([
  ["changes", { etag: null }, { kind: "input_unreachable", retryable: true }],
  ["fails", { status: 503, file: Buffer.from("busy") }, { kind: "input_unreachable", retryable: true }],
  ["vanishes", { status: 404, file: Buffer.from("gone") }, { kind: "input_not_found" }],
])("a file that %s during the probe gives the error of its reading", async ([name, then, error]) => {
  const file = await hugeMp4(10_000_000);
  const other = await hugeMp4(10_000_001);
  const url = origin.serve(`/${name}`, (request) => (request === 0 ? { file } : { file: other, ...then }));
  await expect(probeUrl(url)).rejects.toMatchObject(error);
});
