import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestHarness } from "wrangler";
import { createSigner } from "../../../worker/media/signer.ts";
import { SERVICE_IN_CONTAINER } from "../../../worker/native/native.ts";
import type { Bindings } from "../api/service.ts";

const RUN = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
const secrets = { API_KEYS: "k", MEDIA_SIGNING_KEY: "the signing key of these very tests" };
const configPath = new URL("native-egress/wrangler.toml", import.meta.url);
const server = createTestHarness({ workers: [{ configPath, secrets }] });
const signer = createSigner([secrets.MEDIA_SIGNING_KEY], Date.now);
const soon = () => Date.now() / 1000 + 60;

beforeAll(async () => {
  await server.listen();
  const { MEDIA } = await server.getWorker<Bindings>().getEnv();
  await MEDIA.put(`work/${RUN}/source`, new TextEncoder().encode("0123456789"));
});
afterAll(() => server.close());

const send = (to: string, init: RequestInit = {}) =>
  server.fetch("/", { ...init, headers: { ...init.headers, To: to } } as never);

test("a container reads its input by range", async () => {
  const url = await signer.sign(`work/${RUN}/source`, soon(), SERVICE_IN_CONTAINER);
  const response = await send(url, { headers: { Range: "bytes=2-4" } });
  expect([response.status, await response.text()]).toEqual([206, "234"]);
});

test("a container's writes reach the media routes", async () => {
  const folder = await signer.signFolder(`work/${RUN}/`, soon(), SERVICE_IN_CONTAINER);
  const response = await send(`${folder}a.mp4`, { method: "PUT", body: "bytes" });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ message: expect.stringMatching(/^The run is over/) });
});

test.each([
  [`${SERVICE_IN_CONTAINER}/tasks`, 403],
  [`${SERVICE_IN_CONTAINER}/health`, 403],
  [`${SERVICE_IN_CONTAINER}/media/../tasks`, 403],
  ["http://example.com/", 520],
  ["http://169.254.169.254/latest/meta-data", 520],
])("blocks any other request: %s", async (to, status) => {
  expect((await send(to, { headers: { Authorization: "Bearer k" } })).status).toBe(status);
});
