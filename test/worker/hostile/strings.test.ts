import { describe, expect, test } from "vitest";
import { createMemoryApi, KEY } from "../api/memory-api.ts";
import { NASTY } from "./nasty.ts";

const network = {
  fetch: async () => new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }),
};
const { app, lines } = createMemoryApi({}, { network });

const HEADERS = new Set(
  (
    "access-control-allow-origin access-control-expose-headers cache-control content-length content-security-policy content-type " +
    "cross-origin-opener-policy cross-origin-resource-policy has-more link referrer-policy request-id strict-transport-security " +
    "www-authenticate x-content-type-options x-frame-options retry-after"
  ).split(" "),
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const CONTROL = /[\0-\x1f\x7f]/;

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const all = { ...KEY, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers };
  const init = { method, headers: all, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await app.request(path, init);
  const text = await response.text();
  expect(response.status).toBeLessThan(500);
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(response.headers.get("Content-Type")).toBe("application/json");
  for (const [name, value] of response.headers) {
    if (!name.startsWith("ratelimit")) expect(HEADERS, `${name}: ${value}`).toContain(name);
    expect(value).toMatch(/^[\x20-\x7e]*$/);
  }
  const answer = JSON.parse(text);
  // Messages may be printed to a terminal or shown in a page.
  if (response.status >= 400) expect(answer.message).not.toMatch(CONTROL);
  return { status: response.status, answer, headers: response.headers };
}

const input = "https://example.com/a.mp4";
const connection = {
  name: "Mine",
  kind: "s3",
  endpoint: "https://s3.example.com",
  region: "auto",
  access_key_id: "AKID",
  secret_access_key: "hush-hush",
  signing: [{ bucket: "my-bucket", methods: ["PUT"] }],
};

describe.for(NASTY.map((nasty) => [nasty.slice(0, 40), nasty] as const))("%j", ([, nasty]) => {
  test("survives a round trip through metadata", async () => {
    const metadata = Object.fromEntries([
      ["value", nasty],
      [nasty, "as a name"],
      ["deep", [{ inside: nasty }]],
    ]);
    const created = await ask("POST", "/tasks", { input, kind: "image", metadata });
    expect(created.status).toBe(201);
    const { answer } = await ask("GET", `/tasks/${created.answer.id}`);
    expect(JSON.stringify(answer.metadata)).toBe(JSON.stringify(metadata));
  });

  test("is accepted as text or rejected, wherever a request takes one", async () => {
    const source = { object: "source", url: input, kind: "video", format: "mp4" };
    const named = nasty.isWellFormed() ? encodeURIComponent(nasty) : "%ED%A0%80";
    const answers = [
      await ask("POST", "/tasks", { input: nasty, kind: "image" }),
      await ask("POST", "/tasks", { input, kind: nasty }),
      await ask("POST", "/tasks", { input, kind: "video", options: { format: nasty, codec: nasty } }),
      await ask("POST", "/tasks", {
        input,
        kind: "image",
        options: { fit: "contain", width: 8, height: 8, background: nasty },
      }),
      await ask("POST", "/tasks", { input, kind: "image", options: { width: nasty, [nasty]: nasty } }),
      await ask("POST", "/tasks", { input, kind: "image", output: nasty }),
      await ask("POST", "/tasks", { input, kind: "image", output: `s3://${nasty}/key` }),
      await ask("POST", "/tasks", { input, kind: "image", output: `s3://bucket/${nasty}` }),
      await ask("POST", "/tasks", { input, kind: "image", [nasty]: nasty }),
      await ask("POST", "/steps", {
        kind: "video",
        input: { ...source, format: nasty, codecs: { video: nasty } },
      }),
      await ask("POST", "/steps", {
        kind: "upload",
        input: source,
        options: { url: "s3://b/k", connection_id: nasty },
      }),
      await ask("GET", `/tasks?after=${named}&limit=1`),
      await ask("GET", `/tasks?status=${named}`),
      await ask("GET", `/tasks?${named}=1`),
      await ask("GET", `/tasks/${named || "-"}`),
      await ask("DELETE", `/${named}`),
    ];
    for (const { status } of answers) expect([200, 201, 400, 404]).toContain(status);
    // Headers can hold only these characters.
    if (/^[\x20-\x7e]+$/.test(nasty)) {
      const created = await ask("POST", "/tasks", { input, kind: "image" }, { "Idempotency-Key": nasty });
      expect([200, 201, 400, 422]).toContain(created.status);
      expect((await ask("GET", "/tasks", undefined, { Authorization: nasty })).status).toBe(401);
      expect((await ask("GET", "/tasks?limit=1", undefined, { "X-Forwarded-Host": nasty })).status).toBe(200);
    }
  });

  test("reaches S3 unchanged or not at all", async () => {
    for (const field of ["name", "region", "access_key_id", "secret_access_key", "endpoint"]) {
      const created = await ask("POST", "/connections", { ...connection, [field]: nasty });
      if (created.status !== 201) expect([created.status, created.answer.param]).toEqual([400, field]);
    }
    const { answer } = await ask("POST", "/connections", connection);
    const sign = (change: object) =>
      ask("POST", `/connections/${answer.id}/sign`, {
        method: "PUT",
        bucket: "my-bucket",
        key: "k",
        ...change,
      });
    const key = await sign({ key: nasty });
    if (key.status === 200) {
      const url = new URL(key.answer.url);
      expect([url.host, decodeURIComponent(url.pathname)]).toEqual(["s3.example.com", `/my-bucket/${nasty}`]);
    } else expect(key.status).toBe(400);
    const query = await sign({ query: { uploadId: nasty } });
    if (query.status === 200) expect(new URL(query.answer.url).searchParams.get("uploadId")).toBe(nasty);
    else expect([query.status, query.answer.param]).toEqual([400, "query"]);
    const name = await sign({ query: { [nasty]: "1" } });
    expect([name.status, name.answer.param]).toEqual([400, "query"]);
    const type = await sign({ content_type: nasty });
    if (type.status === 200)
      expect(type.answer.headers).toEqual(nasty === "" ? {} : { "content-type": nasty });
    else expect([type.status, type.answer.param]).toEqual([400, "content_type"]);
    expect((await sign({ bucket: nasty })).status).toBe(/^[a-z0-9]{3,}$/.test(nasty) ? 403 : 400);
  });
});

test("the log has one line per request and none of the texts", () => {
  expect(lines.length).toBeGreaterThan(NASTY.length * 25);
  for (const line of lines) {
    const { route, method, project = "mine", ...rest } = JSON.parse(line);
    expect(line).not.toContain("\n");
    expect(route).toMatch(
      /^(none|\/(tasks|steps|connections|uploads|webhooks|events|keys|metrics)[\w/:-]*)$/,
    );
    expect([method, project, rest.message]).toEqual([expect.stringMatching(/^[A-Z]+$/), "mine", "request"]);
    expect(line).not.toMatch(/pwned|passwd|script|hush|forged|AKID/);
  }
});
