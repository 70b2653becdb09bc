import { expect, onTestFinished, test } from "vitest";
import { startRemote } from "../../bench/cases/remote.ts";
import { noise, sha256, virtualFile } from "../fixtures/virtual-file.ts";

const FILE = virtualFile([noise(50_000_000)]);

async function start() {
  const ends = new AsyncDisposableStack();
  onTestFinished(() => ends.disposeAsync());
  return startRemote(FILE, "a.bin", ends);
}

test("a range comes as it is, and its bytes are counted once", async () => {
  const remote = await start();
  const response = await fetch(remote.url, { headers: { Range: "bytes=1000000-1099999" } });
  expect(response.status).toBe(206);
  expect(response.headers.get("content-range")).toBe("bytes 1000000-1099999/50000000");
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(sha256(virtualFile([bytes]))).toBe(sha256(FILE, 1_000_000, 1_100_000));
  expect(await remote.take()).toEqual({ bytes: 100_000, requests: 1 });
  expect(await remote.take()).toEqual({ bytes: 0, requests: 0 });
});

test("an open range goes to the end, and a HEAD has no bytes", async () => {
  const remote = await start();
  const response = await fetch(remote.url, { headers: { Range: "bytes=49999000-" } });
  expect((await response.arrayBuffer()).byteLength).toBe(1000);
  const head = await fetch(remote.url, { method: "HEAD" });
  expect(head.headers.get("content-length")).toBe("50000000");
  expect(await remote.take()).toEqual({ bytes: 1000, requests: 2 });
});

test("who hangs up early is charged for little more than it read", async () => {
  const remote = await start();
  const response = await fetch(remote.url);
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  const { bytes, requests } = await remote.take();
  expect(requests).toBe(1);
  expect(bytes).toBeGreaterThanOrEqual(first?.value?.length ?? Number.POSITIVE_INFINITY);
  expect(bytes).toBeLessThan(5_000_000);
});
