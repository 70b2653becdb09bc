import { afterEach, beforeEach, expect, test } from "vitest";
import { createRemoteClient } from "../../src/client/remote.ts";
import type { RemoteClient } from "../../src/client/remote-client.ts";
import type { Upload } from "../../src/runs/upload.ts";
import { UPLOAD } from "../../worker/api/uploads.ts";
import { QUEUED } from "./records.ts";
import { CUT, refusal, type ScriptedApi, startScriptedApi } from "./scripted-api.ts";

const FILE = new File(["0123456789"], "clip.mp4", { type: "video/mp4; codecs=avc1" });
const COMPLETE = `/uploads/${UPLOAD.id}/complete`;
const PUT = { status: 200, etag: '"e"', file: Buffer.from("{}") };

let api: ScriptedApi;
let client: RemoteClient;
let upload: Upload;
beforeEach(async () => {
  api = await startScriptedApi();
  client = createRemoteClient({ baseUrl: api.url, apiKey: "k" });
  const parts = [4, 4, 2].map((size, index) => ({
    ...{ part: index + 1, size, url: `${api.url}/put/${index + 1}` },
    headers: { "content-type": "video/mp4", "content-length": String(size) },
  }));
  upload = { ...UPLOAD, size: 10, parts };
  api.at("/uploads", upload);
  api.at(COMPLETE, { ...upload, status: "stored", parts: [], etag: "all" });
  for (const { part } of parts) api.at(`/put/${part}`, PUT);
});
afterEach(async () => {
  await client.close();
  await api.close();
});

const requests = () => api.log.map(({ method, path, status }) => `${method} ${path} ${status}`);

test("sends a file in parts, without the key, and reports progress", async () => {
  const progress: number[][] = [];
  const stored = await client.uploads.send(FILE, { onProgress: (...sent) => progress.push(sent) });
  expect(stored).toMatchObject({ id: UPLOAD.id, status: "stored", url: UPLOAD.url });
  expect(requests()).toHaveLength(5);
  expect(requests().slice(1, 4).toSorted()).toEqual(["PUT /put/1 200", "PUT /put/2 200", "PUT /put/3 200"]);
  expect(requests().at(-1)).toBe(`POST ${COMPLETE} 200`);
  const puts = api.log.filter(({ method }) => method === "PUT");
  expect(puts.map(({ headers }) => [headers.authorization, headers["content-type"]])).toEqual(
    Array(3).fill([undefined, "video/mp4"]),
  );
  expect(puts.map(({ headers }) => Number(headers["content-length"])).toSorted()).toEqual([2, 4, 4]);
  expect(progress.at(-1)).toEqual([10, 10]);
  const sent = progress.map(([bytes = 0]) => bytes);
  expect(sent).toEqual(sent.toSorted((a, b) => a - b));
});

test("retries only the part that failed transiently", async () => {
  api.at("/put/2", refusal(503, "busy"), CUT, PUT);
  expect(await client.uploads.send(FILE)).toMatchObject({ status: "stored" });
  expect(api.requestsTo("/put/2")).toEqual(["PUT 503", "PUT 200", "PUT 200"]);
  expect([...api.requestsTo("/put/1"), ...api.requestsTo("/put/3")]).toEqual(["PUT 200", "PUT 200"]);
});

test("an upload with the key of an earlier one sends no stored file again, and starts over if the earlier one was deleted", async () => {
  const sendAgain = () => client.uploads.send(FILE, { idempotencyKey: "run-1.input" });
  const stored = { ...upload, status: "stored", parts: [], etag: "all" };
  api.at(`/uploads/${UPLOAD.id}`, stored);
  expect(await sendAgain()).toEqual(stored);
  expect(requests()).toEqual(["POST /uploads 200", `GET /uploads/${UPLOAD.id} 200`]);
  api.at(`/uploads/${UPLOAD.id}`, refusal(404, { kind: "media_not_found", message: "Gone." }));
  expect(await sendAgain()).toEqual(stored);
  const begun = api.log.filter(({ path }) => path === "/uploads");
  const [first, again, anew] = begun.map(({ headers }) => headers["idempotency-key"]);
  expect([first, again]).toEqual(["run-1.input", "run-1.input"]);
  expect(anew).toMatch(/^[\da-f-]{36}$/);
});

test("a file is uploaded under a key of at most 255 characters, however long that of the task is", async () => {
  api.at(`/uploads/${UPLOAD.id}`, { ...upload, status: "stored", parts: [], etag: "all" });
  api.at("/tasks", QUEUED);
  const send = async (idempotencyKey: string) => {
    api.log.length = 0;
    await client.tasks.create({ input: FILE, kind: "audio" }, { idempotencyKey });
    const sent = api.log.filter(({ path }) => path === "/uploads" || path === "/tasks");
    return sent.map(({ headers }) => headers["idempotency-key"]);
  };
  expect(await send("k".repeat(249))).toEqual([`${"k".repeat(249)}.input`, "k".repeat(249)]);
  const [file, task] = await send("k".repeat(255));
  expect(task).toBe("k".repeat(255));
  expect(file).toMatch(/^[\da-f]{64}$/);
});

test("keeps an upload that the task of an earlier request with the same key may use", async () => {
  api.at(`/uploads/${UPLOAD.id}`, { ...upload, status: "stored", parts: [], etag: "all" });
  api.at("/tasks", refusal(422, { kind: "idempotency_mismatch", message: "Used with another request." }));
  const other = client.tasks.create({ input: FILE, kind: "audio" }, { idempotencyKey: "run-1" });
  await expect(other).rejects.toMatchObject({ kind: "idempotency_mismatch" });
  expect(api.requestsTo(`/uploads/${UPLOAD.id}`)).toEqual(["GET 200"]);
});

test("completes an upload again after its response was lost, and keeps it", async () => {
  api.at(COMPLETE, CUT, refusal(502, "bad gateway"), { ...upload, status: "stored", parts: [], etag: "all" });
  expect(await client.uploads.send(FILE)).toMatchObject({ id: UPLOAD.id, status: "stored", etag: "all" });
  expect(api.requestsTo(COMPLETE)).toEqual(["POST 200", "POST 502", "POST 200"]);
  expect(api.log.filter(({ method }) => method === "DELETE")).toEqual([]);
});

test.for([
  { status: 403, kind: "upload_forbidden" },
  { status: 507, kind: "storage_full" },
  { status: 400, kind: "upload_failed" },
] as const)(
  "on storage status $status rejects with $kind, and deletes the upload",
  async ({ status, kind }) => {
    api.at("/put/3", refusal(status, "no"));
    const error = await client.uploads.send(FILE).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind, retryable: false });
    expect(String((error as Error).message)).not.toContain("/put/");
    expect(requests().at(-1)).toMatch(new RegExp(`^DELETE /uploads/${UPLOAD.id} `));
    expect(requests()).not.toContain(`POST ${COMPLETE} 200`);
  },
);

test.for(["/put/1", COMPLETE])("stops at %s when the signal aborts, and deletes the upload", async (path) => {
  api.at(path, { silent: true });
  const stop = new AbortController();
  const reason = new Error("the visitor left");
  const sending = client.uploads.send(FILE, { signal: stop.signal });
  await expect.poll(() => api.requestsTo(path)).toHaveLength(1);
  stop.abort(reason);
  expect(await sending.catch((thrown: unknown) => thrown)).toBe(reason);
  expect(requests().at(-1)).toMatch(/^DELETE /);
});

test("uploads a file input first, and deletes the upload when the request is invalid, but not when rate-limited", async () => {
  api.at("/tasks", QUEUED, refusal(400, { kind: "invalid_kind", message: "No.", param: "kind" }));
  expect(await client.tasks.create({ input: FILE, kind: "video" })).toEqual(QUEUED);
  expect(requests().at(-1)).toBe("POST /tasks 200");
  const handle = { kind: "file", getFile: async () => FILE } as FileSystemFileHandle;
  await expect(client.tasks.create({ input: handle, kind: "image" })).rejects.toMatchObject({
    ...{ kind: "invalid_kind", param: "kind" },
  });
  expect(requests().at(-1)).toMatch(/^DELETE \/uploads\//);
  const busy = { kind: "rate_limited", message: "Later." };
  api.at("/steps", refusal(429, busy, { "Retry-After": "60" }));
  const wish = { input: FILE, kind: "probe" } as const;
  await expect(client.steps.create(wish)).rejects.toMatchObject({ kind: "rate_limited", retryable: true });
  expect(requests().at(-1)).toBe("POST /steps 429");
});
