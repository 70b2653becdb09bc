import { expect, test, vi } from "vitest";
import { createLog, logFault } from "../../../worker/log.ts";
import { createMemoryApi, KEY } from "../api/memory-api.ts";

test("logs one line per request, with the route instead of the path", async () => {
  const { app, lines, signer } = createMemoryApi({ allowPrivate: true });
  const url = "https://user-media.example.com/a.mp4?signature=hush-input";
  const body = JSON.stringify({ input: url, kind: "image", metadata: { note: "hush-metadata" } });
  const created = await app.request("/tasks", {
    method: "POST",
    headers: { ...KEY, "Content-Type": "application/json", "Idempotency-Key": "hush-once" },
    body,
  });
  const { id } = (await created.json()) as { id: string };
  await app.request(`/tasks/${id}?token=hush-query`, { headers: KEY });
  await app.request("/tasks", { headers: { Authorization: "Bearer hush-wrong-key" } });
  const media = await signer.sign(`out/${id}/a.mp4`, 4e9, "http://localhost");
  await app.request(new URL(media).pathname);
  await app.request("/tasks/hush-id\n{}", { headers: KEY });
  await app.request("/hush/%0a/elsewhere", { method: "BREW", headers: KEY });
  const entries = lines.map((line) => JSON.parse(line));
  const common = {
    level: "info",
    message: "request",
    request_id: expect.stringMatching(/^req_/),
    ms: expect.any(Number),
  };
  const mine = { ...common, project: "mine", key_id: expect.stringMatching(/^key_[0-9a-f]{12}$/) };
  expect(entries).toEqual([
    { ...mine, task_id: id, method: "POST", route: "/tasks", status: 201 },
    { ...mine, task_id: id, method: "GET", route: "/tasks/:id", status: 200 },
    { ...common, method: "GET", route: "/tasks", status: 401 },
    { ...common, method: "GET", route: "/media/*", status: 404 },
    { ...mine, method: "GET", route: "/tasks/:id", status: 404 },
    { ...mine, method: "other", route: "none", status: 404 },
  ]);
  expect(lines.join("\n")).not.toMatch(/hush|good-key|Bearer|sign|\n\n/);
  expect(media).not.toContain(entries[3].route);
});

test("the level error logs faults only", () => {
  const lines: string[] = [];
  const log = createLog("error", (level, text) => lines.push(`${level} ${text}`));
  log("info", { message: "request", status: 200 });
  log("error", { message: "request", status: 500 });
  expect(lines).toEqual(['error {"level":"error","message":"request","status":500}']);
});

test("logs a fault on one line, with URLs reduced to their origin", () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const cause = new TypeError("Invalid URL: https://user:hush@media.example:8443/a/hush?token=hush#hush");
  logFault("attempt failed", new Error("s3://bucket/hush\nfailed", { cause }), { task_id: "task_1" });
  logFault("odd", "http://[hush");
  const [first, second] = log.mock.calls.map(([text]) => String(text));
  log.mockRestore();
  expect(first).not.toMatch(/hush\W|\n/);
  expect(JSON.parse(first ?? "")).toMatchObject({
    level: "error",
    message: "attempt failed",
    task_id: "task_1",
  });
  expect(JSON.parse(first ?? "").cause).toContain("https://media.example:8443/…");
  expect(JSON.parse(second ?? "")).toEqual({ level: "error", message: "odd", error: "///…" });
});
