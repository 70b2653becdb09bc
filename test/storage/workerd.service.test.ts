import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { startWorkerd, type Workerd } from "../fixtures/workerd.ts";
import { STORE_CONTRACT } from "../stores/contract.ts";
import { STORAGE_CONTRACT } from "./contract.ts";
import { HTTP_CASES } from "./http-cases.ts";
import type { HttpOperation, HttpOutcome } from "./http-operations.ts";
import { R2_FAULTS } from "./r2-faults.ts";

let workerd: Workerd;
let origin: Origin;
beforeAll(async () => {
  origin = await startOrigin();
  workerd = await startWorkerd(join(import.meta.dirname, "workerd/wrangler.toml"));
});
beforeEach(() => origin.forget());
afterAll(async () => {
  await workerd?.stop();
  await origin?.close();
});

const verdict = async (port: string, name: string) => {
  const response = await fetch(`${workerd.url}/${port}?${new URLSearchParams({ name })}`);
  return response.text();
};
const run = async (operation: HttpOperation): Promise<HttpOutcome> => {
  const response = await fetch(`${workerd.url}/http`, { method: "POST", body: JSON.stringify(operation) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as HttpOutcome;
};

test.for(STORAGE_CONTRACT)("R2 in workerd $name", async ({ name }) => {
  expect(await verdict("storage", name)).toBe("kept");
});

test.for(R2_FAULTS)("R2 in workerd $name", async ({ name }) => {
  expect(await verdict("faults", name)).toBe("kept");
});

test.for(STORE_CONTRACT)("KV in workerd $name", async ({ name }) => {
  expect(await verdict("store", name)).toBe("kept");
});

test.for(HTTP_CASES)("HTTP in workerd: $name", ({ judge }) => judge(origin, run));
