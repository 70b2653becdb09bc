import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { noise, sha256, virtualFile } from "../fixtures/virtual-file.ts";
import { startWorkerd, type Workerd } from "../fixtures/workerd.ts";
import type { HttpOperation, HttpOutcome } from "./http-operations.ts";

const MB = 1024 * 1024;

let workerd: Workerd;
let origin: Origin;
beforeAll(async () => {
  origin = await startOrigin();
  workerd = await startWorkerd(join(import.meta.dirname, "workerd/wrangler.toml"));
});
afterAll(async () => {
  await workerd?.stop();
  await origin?.close();
});

const ingest = async (url: string, key: string): Promise<HttpOutcome> => {
  const operation: HttpOperation = { url, act: { kind: "ingest", key } };
  const response = await fetch(`${workerd.url}/http`, { method: "POST", body: JSON.stringify(operation) });
  return (await response.json()) as HttpOutcome;
};

test("ingests 200 MB without a declared length in bounded memory", {
  timeout: 240_000,
}, async () => {
  // The local R2, in the same process, leaves up to 130 MB of garbage before collecting it; half of the size
  // gets it there.
  await ingest(origin.serve("/warm", { file: virtualFile([noise(100 * MB)]) }), "warm");
  const before = await workerd.peakMemory();
  const file = virtualFile([noise(200 * MB + 12_345)]);
  const url = origin.serve("/big", { file, ranges: false, chunked: true });
  expect(await ingest(url, "copy")).toMatchObject({ bytes: file.size });
  const growth = ((await workerd.peakMemory()) - before) / MB;
  expect(growth).toBeLessThan(64);
  const copy = await fetch(`${workerd.url}/stored?key=copy`);
  const bytes = Buffer.from(await copy.arrayBuffer());
  expect(sha256(virtualFile([bytes]))).toBe(sha256(file));
});
