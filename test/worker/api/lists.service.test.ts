import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { type ApiHost, HOSTS } from "./hosts.ts";
import { createMemoryApi, KEY } from "./memory-api.ts";

describe.each(Object.entries(HOSTS))("%s", (_, start) => {
  let host: ApiHost;
  const ids: string[] = [];
  const step_ids: string[] = [];

  // Twelve tasks, t0 the oldest; even ones are audio, the first three cancelled.
  beforeAll(async () => {
    host = await start();
    for (let i = 0; i < 12; i++) {
      const kind = i % 2 === 0 ? "audio" : "video";
      const { id } = (await host.ask<Task>("POST", "/tasks", { input: host.input, kind })).body;
      ids.push(id);
      if (i < 3) await host.ask("POST", `/tasks/${id}/cancel`);
    }
    for (const kind of ["probe", "ingest"]) {
      step_ids.push((await host.ask<Step>("POST", "/steps", { kind, input: { url: host.input } })).body.id);
    }
  });
  afterAll(() => host?.close());

  async function list(path: string) {
    const { status, headers, body } = await host.ask<{ id: string }[]>("GET", path);
    const links = [...(headers.get("Link") ?? "").matchAll(/<([^>]+)>; rel="(\w+)"/g)];
    const link = Object.fromEntries(links.map(([, url = "", rel]) => [rel, url.replace(host.base, "")]));
    const names = body.map((record) => `t${ids.indexOf(record.id)}`).join(" ");
    return { status, names, more: headers.get("Has-More"), link };
  }

  test("returns the newest first, as a bare array", async () => {
    expect(await list("/tasks")).toEqual({
      status: 200,
      names: "t11 t10 t9 t8 t7 t6 t5 t4 t3 t2 t1 t0",
      more: "false",
      link: {},
    });
  });

  test.each([
    { path: "/tasks?limit=1", names: "t11", more: "true" },
    { path: "/tasks?limit=3", names: "t11 t10 t9", more: "true" },
    { path: "/tasks?limit=12", names: "t11 t10 t9 t8 t7 t6 t5 t4 t3 t2 t1 t0", more: "false" },
    { path: "/tasks?limit=100&order=asc", names: "t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11", more: "false" },
    { path: "/tasks?order=asc&limit=2", names: "t0 t1", more: "true" },
    { path: "/tasks?kind=audio", names: "t10 t8 t6 t4 t2 t0", more: "false" },
    { path: "/tasks?status=cancelled", names: "t2 t1 t0", more: "false" },
    { path: "/tasks?status=cancelled&kind=audio&order=asc", names: "t0 t2", more: "false" },
    { path: "/tasks?status=cancelled&limit=2", names: "t2 t1", more: "true" },
    { path: "/tasks?status=succeeded", names: "", more: "false" },
    { path: "/tasks?kind=image", names: "", more: "false" },
  ])("$path returns $names", async ({ path, names, more }) => {
    expect(await list(path)).toMatchObject({ status: 200, names, more });
  });

  test.each([
    { order: "desc", pages: ["t11 t10 t9 t8 t7", "t6 t5 t4 t3 t2", "t1 t0"] },
    { order: "asc", pages: ["t0 t1 t2 t3 t4", "t5 t6 t7 t8 t9", "t10 t11"] },
  ])("links lead through all pages and back, $order", async ({ order, pages }) => {
    const forward: string[] = [];
    let at: string | undefined = `/tasks?limit=5&order=${order}`;
    let last = "";
    while (at !== undefined) {
      const page = await list(at);
      forward.push(page.names);
      expect(page.more).toBe(String(page.link.next !== undefined));
      last = at;
      at = page.link.next;
    }
    expect(forward).toEqual(pages);
    expect(last).toBe(`/tasks?limit=5&order=${order}&after=${ids[order === "asc" ? 9 : 2]}`);
    const back: string[] = [];
    at = last;
    while (at !== undefined) {
      const page = await list(at);
      back.push(page.names);
      at = page.link.prev;
    }
    expect(back).toEqual(pages.toReversed());
  });

  test("a page before a cursor reports whether more precede it and links both ways", async () => {
    const page = await list(`/tasks?limit=2&before=${ids[5]}&kind=video`);
    expect(page).toMatchObject({ names: "t9 t7", more: "true" });
    expect(page.link.next).toBe(`/tasks?limit=2&kind=video&after=${ids[7]}`);
    expect(page.link.prev).toBe(`/tasks?limit=2&kind=video&before=${ids[9]}`);
    expect(await list(`/tasks?limit=2&before=${ids[10]}`)).toMatchObject({ names: "t11", more: "false" });
  });

  test("a cursor whose record is not in the list still marks a position", async () => {
    expect(await list(`/tasks?after=${ids[4]}&kind=video`)).toMatchObject({ names: "t3 t1", more: "false" });
    const first = "task_00000000000000000000000000";
    const last = "task_7zzzzzzzzzzzzzzzzzzzzzzzzz";
    expect((await list(`/tasks?after=${first}`)).names).toBe("");
    expect((await list(`/tasks?before=${last}`)).names).toBe("");
    expect((await list(`/tasks?after=${last}&limit=2`)).names).toBe("t11 t10");
    expect((await list(`/tasks?before=${first}&limit=2`)).names).toBe("t1 t0");
  });

  test("lists standalone steps, not those of tasks", async () => {
    const { body } = await host.ask<Step[]>("GET", "/steps");
    expect(body.map((step) => step.id)).toEqual(step_ids.toReversed());
    const probes = await host.ask<Step[]>("GET", "/steps?kind=probe");
    expect(probes.body.map((step) => step.id)).toEqual([step_ids[0]]);
  });

  // Runs last on its host, since it changes the list.
  test("paging returns each remaining task once while others are created and deleted", async () => {
    const pages: string[] = [];
    for (let at: string | undefined = "/tasks?limit=4"; at !== undefined; ) {
      const page = await list(at);
      pages.push(page.names);
      at = page.link.next;
      if (pages.length > 1) continue;
      await host.ask("POST", "/tasks", { input: host.input, kind: "video" });
      for (const gone of [8, 7, 1]) {
        await host.ask("POST", `/tasks/${ids[gone]}/cancel`);
        expect((await host.ask("DELETE", `/tasks/${ids[gone]}`)).status).toBe(204);
      }
    }
    expect(pages).toEqual(["t11 t10 t9 t8", "t6 t5 t4 t3", "t2 t0"]);
    expect((await list("/tasks?limit=3")).names).toBe("t-1 t11 t10");
  });
});

test("links start with the configured base URL", async () => {
  const { app } = createMemoryApi({ base_url: "https://api.example/v/" });
  const headers = { ...KEY, "Content-Type": "application/json" };
  const body = JSON.stringify({ input: "https://example.com/a", kind: "video" });
  for (let i = 0; i < 2; i++) await app.request("/tasks", { method: "POST", headers, body });
  const response = await app.request("/tasks?limit=1", { headers: KEY });
  expect(response.headers.get("Link")).toMatch(
    /^<https:\/\/api\.example\/v\/tasks\?limit=1&after=task_\w{26}>; rel="next"$/,
  );
});

const id = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
test.each([
  { path: "/tasks?limit=0", kind: "request_invalid", param: "limit" },
  { path: "/tasks?limit=101", kind: "request_invalid", param: "limit" },
  { path: "/tasks?limit=-1", kind: "request_invalid", param: "limit" },
  { path: "/tasks?limit=1.5", kind: "request_invalid", param: "limit" },
  { path: "/tasks?limit=ten", kind: "request_invalid", param: "limit" },
  { path: "/tasks?limit=", kind: "request_invalid", param: "limit" },
  { path: "/tasks?limit=1e1", kind: "request_invalid", param: "limit" },
  { path: "/tasks?limit=99999999999999999999", kind: "request_invalid", param: "limit" },
  { path: "/tasks?limit=5&limit=6", kind: "request_invalid", param: "limit" },
  { path: "/tasks?after=x", kind: "request_invalid", param: "after" },
  { path: "/tasks?after=", kind: "request_invalid", param: "after" },
  { path: "/tasks?after=step_01kbb1d3x4e8v0t6m9q2y5z7av", kind: "request_invalid", param: "after" },
  { path: `/tasks?after=${id}'--`, kind: "request_invalid", param: "after" },
  { path: "/tasks?before=%00", kind: "request_invalid", param: "before" },
  { path: `/tasks?after=${id}&before=${id}`, kind: "request_invalid", param: "before" },
  { path: "/tasks?order=up", kind: "request_invalid", param: "order" },
  { path: "/tasks?order=DESC", kind: "request_invalid", param: "order" },
  { path: "/tasks?status=done", kind: "request_invalid", param: "status" },
  { path: "/tasks?status=waiting", kind: "request_invalid", param: "status" },
  { path: "/tasks?kind=movie", kind: "invalid_kind", param: "kind" },
  { path: "/tasks?kind=probe", kind: "invalid_kind", param: "kind" },
  { path: "/tasks?page=2", kind: "request_invalid", param: "page" },
  { path: "/tasks?__proto__=1", kind: "request_invalid", param: "__proto__" },
  { path: `/steps?after=${id}`, kind: "request_invalid", param: "after" },
  { path: "/steps?status=queued", kind: "request_invalid", param: "status" },
  { path: "/steps?kind=encode", kind: "invalid_kind", param: "kind" },
])("$path is rejected as $kind of $param", async ({ path, kind, param }) => {
  const response = await createMemoryApi().app.request(path, { headers: KEY });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ kind, param });
});
