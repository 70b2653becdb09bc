import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probeFile } from "../probe/probe-file.ts";
import { fetchStored, trial } from "./encode-trial.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-stated-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pictures = (extension: "mp4" | "mkv", seconds: number) =>
  makeClip(extension, [
    ...["-f", "lavfi", "-i", `testsrc2=size=160x90:rate=25:duration=${seconds}`],
    ..."-c:v libx264 -preset ultrafast -g 25".split(" "),
  ]);

// An MP4 whose headers state 10 seconds, and whose pictures end at 6.
async function overstated(): Promise<string> {
  const bytes = await readFile(await pictures("mp4", 6));
  const at = (kind: string) => bytes.indexOf(kind, 0, "latin1");
  const movie = bytes.readUInt32BE(at("mvhd") + 16);
  bytes.writeUInt32BE(10 * movie, at("mvhd") + 20);
  bytes.writeUInt32BE(10 * movie, at("tkhd") + 24);
  bytes.writeUInt32BE(10 * movie, at("elst") + 12);
  bytes.writeUInt32BE(10 * bytes.readUInt32BE(at("mdhd") + 16), at("mdhd") + 20);
  const path = join(folder, "overstated.mp4");
  await writeFile(path, bytes);
  return path;
}

// A Matroska of 10 seconds that was not stored to its end.
async function cutOff(): Promise<string> {
  const bytes = await readFile(await pictures("mkv", 10));
  const path = join(folder, "cut.mkv");
  await writeFile(path, bytes.subarray(0, Math.round(bytes.length * 0.6)));
  return path;
}

test.for([
  { name: "mp4", options: {}, make: overstated, count: 150 },
  { name: "mp4", options: { fps: 12 }, make: overstated, count: 72 },
  { name: "mp4", options: { fps: 12, end: 9 }, make: overstated, count: 72 },
  { name: "mkv", options: {}, make: cutOff, count: null },
  { name: "mkv", options: { fps: 12 }, make: cutOff, count: null },
] as const)(
  "the last picture is not repeated up to an end that a file has not: $name $options",
  async ({ options, make, count }) => {
    const input = await make();
    const { source } = await probeFile(input);
    const facts = await readFacts(input);
    const last = facts.picture?.times.at(-1) ?? 0;
    const request = { format: "mp4", width: 80, ...options } as const;
    const plan = createPlan(source, "video", request);
    const run = await trial(input, "video", request, { source, plan });
    const { picture, duration } = await readFacts(await fetchStored(run.storage, (await runEncode(run)).key));
    if (count !== null) expect(picture?.times).toHaveLength(count);
    expect(duration).toBeGreaterThan(last);
    // Half a picture of the slower rate.
    expect(duration).toBeLessThan(last + 1 / 25 + 1 / 24);
  },
);

test("reordered pictures that lie further apart at the end than at the start are all kept", async () => {
  // The last two of 50 pictures follow a second each.
  const input = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=25:duration=2".split(" "),
    ...["-vf", "setpts='PTS+if(gte(N,48),(N-47)/TB,0)'", "-fps_mode", "passthrough"],
    ..."-c:v libx264 -bf 3".split(" "),
  ]);
  const { source } = await probeFile(input);
  expect(source.duration).toBeCloseTo(3.96, 1);
  const request = { format: "mp4", width: 80, fps: 25 } as const;
  const run = await trial(input, "video", request, { source, plan: createPlan(source, "video", request) });
  const { picture } = await readFacts(await fetchStored(run.storage, (await runEncode(run)).key));
  expect(picture?.times.at(-1)).toBeGreaterThan(3.85);
});
