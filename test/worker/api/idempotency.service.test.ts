import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { type ApiHost, HOSTS, KEYS } from "./hosts.ts";

describe.each(Object.entries(HOSTS))("%s", (_, open) => {
  let host: ApiHost;
  beforeAll(async () => {
    host = await open();
  });
  afterAll(() => host?.close());

  async function post(path: string, body: unknown, idempotency: string, key: string = KEYS.mine) {
    const response = await host.send(host.base + path, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${key}`,
        "Content-Type": "application/json",
        "Idempotency-Key": idempotency,
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  const bodies = () =>
    ({
      "/tasks": { input: host.input, kind: "video" },
      "/steps": { kind: "probe", input: { url: host.input } },
      "/connections": {
        name: "One",
        kind: "s3",
        endpoint: "https://s3.example.com",
        region: "auto",
        access_key_id: "AK",
        secret_access_key: "never-shown",
      },
    }) as const;

  test.each(["/tasks", "/steps", "/connections"] as const)(
    "POST %s creates one record per key",
    async (path) => {
      const body = bodies()[path];
      const first = await post(path, body, `once-${path}`);
      expect(first.status).toBe(201);
      expect(await post(path, body, `once-${path}`)).toEqual({ status: 200, body: first.body });
      const other = await post(path, { ...body, kind: "audio" }, `once-${path}`);
      expect([other.status, (other.body as { kind: string }).kind]).toEqual([422, "idempotency_mismatch"]);
      // Keys are scoped to a project.
      const theirs = await post(path, body, `once-${path}`, KEYS.theirs);
      expect(theirs.status).toBe(201);
      expect(theirs.body).not.toEqual(first.body);
      const listed = await host.ask<{ id: string }[]>("GET", path);
      expect(listed.body.map(({ id }) => id)).toEqual([(first.body as { id: string }).id]);
      expect(JSON.stringify([first, listed.body])).not.toContain("never-shown");
    },
  );

  test("concurrent requests with one key create one record", async () => {
    const body = { input: host.input, kind: "audio" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => post("/tasks", body, "at-once")));
    const good = answers.filter(({ status }) => status < 300);
    expect(good.length).toBeGreaterThan(0);
    expect(good.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(good.map((each) => JSON.stringify(each.body))).size).toBe(1);
    const others = answers.filter(({ status }) => status >= 300);
    expect(others.every((each) => (each.body as { kind: string }).kind === "idempotency_conflict")).toBe(
      true,
    );
    expect((await host.ask("GET", "/tasks?kind=audio")).body).toHaveLength(1);
  });

  test("a rejected request does not use up its key", async () => {
    const wrong = await post("/tasks", { input: host.input, kind: "film" }, "second-chance");
    expect([wrong.status, (wrong.body as { kind: string }).kind]).toEqual([400, "invalid_kind"]);
    expect((await post("/tasks", { input: host.input, kind: "image" }, "second-chance")).status).toBe(201);
  });

  test("retrying twice with one key creates one task", async () => {
    const { body: task } = await host.ask<Task>("POST", "/tasks", { input: host.input, kind: "image" });
    await host.ask("POST", `/tasks/${task.id}/cancel`);
    const first = await post(`/tasks/${task.id}/retry`, undefined, "retry-once");
    expect(first.status).toBe(201);
    expect(await post(`/tasks/${task.id}/retry`, undefined, "retry-once")).toEqual({ ...first, status: 200 });
  });

  test.each(["", " ", "with space", "x".repeat(256)])("rejects the key %j", async (key) => {
    const answer = await post("/tasks", { input: host.input, kind: "video" }, key);
    expect([answer.status, (answer.body as { param?: string }).param]).toEqual([400, "Idempotency-Key"]);
  });
});
