import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clip } from "../../fixtures/clips.ts";
import { type EncoderRig, startEncoder } from "./rig.ts";

let rig: EncoderRig;
beforeAll(async () => {
  rig = await startEncoder();
});
afterAll(() => rig.close());

// Resident megabytes of the workerd processes started from here.
function residentMemory(): number {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOurs(name));
  const sizes = children.map((id) => Number(/VmRSS:\s+(\d+)/.exec(status(id))?.[1] ?? 0) / 1024);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function isOurs(id: string): boolean {
  return (
    Number(/PPid:\s+(\d+)/.exec(status(id))?.[1]) === process.pid && status(id).startsWith("Name:\tworkerd")
  );
}

function status(id: string): string {
  try {
    return readFileSync(`/proc/${id}/status`, "utf8");
  } catch {
    return "";
  }
}

test("work that does not fit fails with out_of_memory, and the next job encodes as before", async () => {
  const large = await clip("mp4", { size: "1920x1080", seconds: 0.4 });
  const small = await clip("mp4", { seconds: 1 });
  const before = await rig.encode(small, "image", { format: "png" });
  for (let n = 0; n < 3; n++) {
    const encode = rig.encode(large, "video", { format: "webm" });
    await expect(encode).rejects.toMatchObject({ kind: "out_of_memory", retryable: false });
    const after = await rig.encode(small, "image", { format: "png" });
    expect(after.chunks).toEqual(before.chunks);
  }
});

test("memory does not grow with the number of jobs", async () => {
  const input = await clip("mp4", { size: "960x540", seconds: 0.6 });
  const encode = () => rig.encode(input, "video", { bitrate: 900_000 });
  for (let n = 0; n < 4; n++) await encode();
  const settled = residentMemory();
  expect(settled).toBeGreaterThan(100);
  const later: number[] = [];
  for (let n = 0; n < 12; n++) {
    await encode();
    later.push(residentMemory());
  }
  // A heap takes 60 MB until the collector frees it, so the lowest of the last six is what remains after at least six jobs.
  expect(Math.min(...later.slice(6)) - settled).toBeLessThan(40);
});
