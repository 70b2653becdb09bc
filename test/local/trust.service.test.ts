import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { family, runScript, visibleFacts } from "./run-script.ts";

let folder: string;
let service: Service;
let key: string;
const settings = () => ({
  PORT: "0",
  STATE_DIR: folder,
  SERVICE_HOSTS: "loopback,nas.test",
  PUBLIC_URL: "https://media.example/api",
});
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-trust-"));
  service = await startService(parseSettings(settings()));
  key = service.key ?? "";
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

// fetch sets the header Host itself.
function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(service.url + path, { method, headers }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    sent.on("error", reject).end();
  });
}

const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });

test("only the key that it drew signs in, and its file is private", async () => {
  expect(key).toMatch(/^[\w-]{43}$/);
  const path = join(folder, "api-key");
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual([key, 0o600]);
  const status = async (text: string) => (await ask("GET", "/tasks", bearer(text))).status;
  expect([await status(key), await status("dev-key"), await status("local")]).toEqual([200, 401, 401]);
});

test.for([
  "http://localhost:5173",
  "http://127.0.0.1:1",
  "http://[::1]:3000",
  "https://shop.localhost",
  // The service's own address, behind a proxy.
  "https://media.example",
])("a page of %s may call it", async (origin) => {
  const answer = await ask("GET", "/tasks", { ...bearer(key), Origin: origin });
  const allowed = answer.headers["access-control-allow-origin"];
  expect([answer.status, allowed]).toEqual([200, origin.includes("media") ? undefined : origin]);
});

test.for([
  "https://evil.example",
  "http://127.0.0.1.evil.example",
  "http://localhost.evil.example",
  "app://localhost",
  "http://192.168.1.7:8787",
  "null",
])("a page of %s may not", async (origin) => {
  const asking = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization",
  };
  for (const [method, path, headers] of [
    ["GET", "/tasks", bearer(key)],
    ["GET", "/health", {}],
    ["GET", "/media/x", {}],
    ["POST", "/tasks", { ...bearer(key), "Content-Type": "text/plain" }],
    ["OPTIONS", "/tasks", asking],
  ] as const) {
    const answer = await ask(method, path, { ...headers, Origin: origin });
    const allowed = answer.headers["access-control-allow-origin"];
    expect([path, answer.status, allowed, answer.text]).toEqual([
      path,
      403,
      undefined,
      expect.stringContaining("CORS_ORIGINS"),
    ]);
  }
});

test.for(["127.0.0.1:1", "LOCALHOST", "a.localhost:8787", "[::1]:8787", "nas.test:80", "media.example"])(
  "answers for the host %s",
  async (host) => {
    expect((await ask("GET", "/tasks", { ...bearer(key), Host: host })).status).toBe(200);
  },
);

test.for([
  { host: "evil.example", more: {} },
  { host: "localhost.evil.example:8787", more: {} },
  { host: "127.0.0.1.evil.example", more: {} },
  { host: "192.168.1.7", more: {} },
  { host: "evil.example", more: { "X-Forwarded-Host": "localhost", Forwarded: "host=localhost" } },
] as const)(
  "does not answer for the host $host with $more, which a rebound name leads to",
  async ({ host, more }) => {
    for (const path of ["/tasks", "/health", "/openapi.json", "/docs"]) {
      const { status, text } = await ask("GET", path, { ...bearer(key), ...more, Host: host });
      expect([path, status, JSON.parse(text)]).toMatchObject([path, 403, { kind: "forbidden" }]);
    }
  },
);

// The local runtime takes the host of a request from this header where one is set, but no page can change its Origin.
test("a rebound page that disguises its host changes nothing", async () => {
  const disguise = { "MF-Original-URL": `${service.url}/tasks`, Host: "evil.example:8787" };
  const origin = { Origin: "http://evil.example:8787" };
  for (const headers of [{ ...disguise, ...origin }, origin]) {
    const answer = await ask("POST", "/tasks", { ...bearer(key), ...headers });
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([403, { kind: "forbidden" }]);
  }
});

test("the next start prints the same key in a link, and no log, argument or environment has it", async () => {
  const body = JSON.stringify({ kind: "probe", input: { url: "http://127.0.0.1:9/none.mp4" } });
  const headers = { ...bearer(key), "Content-Type": "application/json" };
  const { id } = await (await fetch(`${service.url}/steps`, { method: "POST", headers, body })).json();
  await service.stop();
  const script = runScript("dev", [], settings());
  const [, url = ""] = await script.line(/^ready (\S+)$/m);
  expect(script.output()).toContain(`\nsign in ${url}/#key=${key}\nready ${url}\n`);
  // It is in the same project.
  expect((await fetch(`${url}/steps/${id}`, { headers })).status).toBe(200);
  const logs = join(folder, "logs");
  const seen = [
    ...family(script.pid).map(visibleFacts),
    ...readdirSync(logs).map((name) => readFileSync(join(logs, name), "utf8")),
  ];
  expect(seen.length).toBeGreaterThan(5);
  expect(seen.filter((text) => text.includes(key))).toEqual([]);
});
