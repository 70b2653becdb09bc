import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestHarness } from "wrangler";
import { createSigner } from "../../../worker/media/signed-urls.ts";
import { SERVICE_IN_CONTAINER } from "../../../worker/run/encoders.ts";
import { type Rig, startRig } from "../../container/rig.ts";
import type { Bindings } from "../api/service.ts";

const RUN = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
const secrets = { API_KEYS: "k", MEDIA_SIGNING_KEY: "the signing key of these very tests" };
const configPath = new URL("native-egress/wrangler.toml", import.meta.url);
const launched: Rig[] = [];
const starts: { env: Record<string, string>; enableInternet: boolean }[] = [];
const launcher = createServer(async (request, response) => {
  const options = (await json(request)) as (typeof starts)[number];
  starts.push(options);
  // A container has a port of its own, so any will do here.
  const rig = await startRig({ ...options.env, PORT: "0" });
  launched.push(rig);
  response.end(rig.url.replace("0.0.0.0", "127.0.0.1"));
}).listen(0, "127.0.0.1");
await once(launcher, "listening");
const LAUNCHER = `http://127.0.0.1:${(launcher.address() as AddressInfo).port}/`;
const server = createTestHarness({ workers: [{ configPath, secrets, vars: { LAUNCHER } }] });
const signer = createSigner([secrets.MEDIA_SIGNING_KEY], Date.now);
const soon = () => Date.now() / 1000 + 60;

beforeAll(async () => {
  await server.listen();
  const { MEDIA } = await server.getWorker<Bindings>().getEnv();
  await MEDIA.put(`work/${RUN}/source`, new TextEncoder().encode("0123456789"));
});
afterAll(async () => {
  await server.close();
  launcher.close();
  for (const rig of launched) await rig.close();
});

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
  { to: `${SERVICE_IN_CONTAINER}/tasks`, status: 403 },
  { to: `${SERVICE_IN_CONTAINER}/health`, status: 403 },
  { to: `${SERVICE_IN_CONTAINER}/media/../tasks`, status: 403 },
  { to: "http://example.com/", status: 520 },
  { to: "http://169.254.169.254/latest/meta-data", status: 520 },
])("blocks any other request: $to", async ({ to, status }) => {
  expect((await send(to, { headers: { Authorization: "Bearer k" } })).status).toBe(status);
});

test("a container starts with the settings that it needs, and accepts requests only from its object", async () => {
  const send = (instance: string, path: string, init: RequestInit = {}) => {
    const headers = { ...init.headers, To: `http://native${path}`, Instance: instance };
    return server.fetch("/", { ...init, headers } as never);
  };
  const health = await send("native-1", "/health");
  expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ running: 0 })]);
  expect(starts).toEqual([
    {
      env: {
        HOST: "0.0.0.0",
        PORT: "8080",
        SERVICE_ORIGINS: SERVICE_IN_CONTAINER,
        NATIVE_ENCODER_TOKEN: expect.stringMatching(/^[\w-]{43}$/),
      },
      enableInternet: false,
    },
  ]);
  // The object's own token replaces the caller's.
  const job = { method: "POST", body: "[]", headers: { Authorization: "Bearer another" } };
  const inside = await send("native-1", "/jobs", job);
  expect([inside.status, ((await inside.json()) as { kind: string }).kind]).toEqual([400, "request_invalid"]);
  const outside = await fetch(`${launched[0]?.url}/jobs`, job);
  expect([outside.status, ((await outside.json()) as { kind: string }).kind]).toEqual([401, "token_invalid"]);

  expect((await send("native-2", "/health")).status).toBe(200);
  const [one, two] = starts.map(({ env }) => env.NATIVE_ENCODER_TOKEN);
  expect(two).not.toBe(one);
});
