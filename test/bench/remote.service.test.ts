import { expect, onTestFinished, test } from "vitest";
import { startRemote } from "../../bench/cases/remote.ts";
import { noise, sha256, virtualFile } from "../fixtures/virtual-file.ts";

const FILE = virtualFile([noise(50_000_000)]);

async function start() {
  const ends = new AsyncDisposableStack();
  onTestFinished(() => ends.disposeAsync());
  return startRemote(FILE, "a.bin", ends);
}

test("serves a range unchanged, and counts its bytes once", async () => {
  const remote = await start();
  const response = await fetch(remote.url, { headers: { Range: "bytes=1000000-1099999" } });
  expect(response.status).toBe(206);
  expect(response.headers.get("content-range")).toBe("bytes 1000000-1099999/50000000");
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(sha256(virtualFile([bytes]))).toBe(sha256(FILE, 1_000_000, 1_100_000));
  expect(await remote.take()).toEqual({ bytes: 100_000, requests: 1 });
  expect(await remote.take()).toEqual({ bytes: 0, requests: 0 });
});

test("serves an open range to the end of the file; a HEAD has no body", async () => {
  const remote = await start();
  const response = await fetch(remote.url, { headers: { Range: "bytes=49999000-" } });
  expect((await response.arrayBuffer()).byteLength).toBe(1000);
  const head = await fetch(remote.url, { method: "HEAD" });
  expect(head.headers.get("content-length")).toBe("50000000");
  expect(await remote.take()).toEqual({ bytes: 1000, requests: 2 });
});

test("counts little more than a client read before it hung up", async () => {
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
