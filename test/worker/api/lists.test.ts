import { beforeAll, expect, test } from "vitest";
import type { Step } from "../../../src/core/step.ts";
import type { Task } from "../../../src/core/task.ts";
import { createMemoryApi, KEY } from "./memory-api.ts";

const { app, tasks } = createMemoryApi({ base_url: "https://api.example/v/" });
const ids: string[] = [];
const step_ids: string[] = [];

async function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { ...KEY, "Content-Type": "application/json" };
  return (
    await app.request(path, { method: "POST", headers, body: JSON.stringify(body) })
  ).json() as Promise<T>;
}

// Twelve tasks, t0 the oldest; the even ones audio, the first three cancelled.
beforeAll(async () => {
  for (let i = 0; i < 12; i++) {
    const kind = i % 2 === 0 ? "audio" : "video";
    const { id } = await post<Task>("/tasks", { input: "https://example.com/a", kind });
    ids.push(id);
    if (i < 3) tasks.report(id, { type: "cancelled" });
  }
  for (const kind of ["probe", "ingest"]) {
    const { id } = await post<Step>("/steps", { kind, input: { url: "https://example.com/a" } });
    step_ids.push(id);
  }
});

async function list(path: string) {
  const response = await app.request(path, { headers: KEY });
  const body = (await response.json()) as { id: string }[];
  const links = [...(response.headers.get("Link") ?? "").matchAll(/<([^>]+)>; rel="(\w+)"/g)];
  const link = Object.fromEntries(links.map(([, url, rel]) => [rel, url]));
  const names = body.map(({ id }) => `t${ids.indexOf(id)}`).join(" ");
  return { status: response.status, names, more: response.headers.get("Has-More"), link };
}

test("gives the newest first, as a bare array", async () => {
  expect(await list("/tasks")).toEqual({
    status: 200,
    names: "t11 t10 t9 t8 t7 t6 t5 t4 t3 t2 t1 t0",
    more: "false",
    link: {},
  });
});

test.each([
  ["/tasks?limit=1", "t11"],
  ["/tasks?limit=3", "t11 t10 t9"],
  ["/tasks?limit=100&order=asc", "t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11"],
  ["/tasks?order=asc&limit=2", "t0 t1"],
  ["/tasks?status=cancelled", "t2 t1 t0"],
  ["/tasks?status=queued&kind=audio&order=asc", "t4 t6 t8 t10"],
  ["/tasks?status=succeeded", ""],
  ["/tasks?kind=image", ""],
])("%s gives %s", async (path, names) => {
  expect(await list(path)).toMatchObject({ status: 200, names });
});

test("the links lead through all pages and back", async () => {
  const forward: string[] = [];
  let at: string | undefined = "https://api.example/v/tasks?limit=5&order=desc";
  let last = "";
  while (at !== undefined) {
    const page = await list(at.replace("https://api.example/v", ""));
    forward.push(page.names);
    expect(page.more).toBe(String(page.link.next !== undefined));
    last = at;
    at = page.link.next;
    if (at !== undefined)
      expect(at).toMatch(/^https:\/\/api\.example\/v\/tasks\?limit=5&order=desc&after=task_/);
  }
  expect(forward).toEqual(["t11 t10 t9 t8 t7", "t6 t5 t4 t3 t2", "t1 t0"]);
  const back: string[] = [];
  at = last;
  while (at !== undefined) {
    const page = await list(at.replace("https://api.example/v", ""));
    back.push(page.names);
    at = page.link.prev;
  }
  expect(back).toEqual(["t1 t0", "t6 t5 t4 t3 t2", "t11 t10 t9 t8 t7"]);
});

test("a page before a cursor says whether more lie before it, and leads on again", async () => {
  const page = await list(`/tasks?limit=2&before=${ids[5]}&kind=video`);
  expect(page).toMatchObject({ names: "t9 t7", more: "true" });
  expect(page.link.next).toBe(`https://api.example/v/tasks?limit=2&kind=video&after=${ids[7]}`);
  expect(page.link.prev).toBe(`https://api.example/v/tasks?limit=2&kind=video&before=${ids[9]}`);
  expect(await list(`/tasks?limit=2&before=${ids[10]}`)).toMatchObject({ names: "t11", more: "false" });
});

test("a cursor of a record that is not there still has its place", async () => {
  const unknown = `${ids[4]?.slice(0, -1)}${ids[4]?.endsWith("0") ? "1" : "0"}`;
  const page = await list(`/tasks?after=${unknown}&limit=100`);
  expect(["t4 t3 t2 t1 t0", "t3 t2 t1 t0"]).toContain(page.names);
});

test("lists standalone steps, and not those of tasks", async () => {
  const response = await app.request("/steps", { headers: KEY });
  expect(((await response.json()) as Step[]).map(({ id }) => id)).toEqual(step_ids.toReversed());
  const probes = await app.request("/steps?kind=probe&status=waiting", { headers: KEY });
  expect(((await probes.json()) as Step[]).map(({ id }) => id)).toEqual([step_ids[0]]);
});

const id = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
test.each([
  ["/tasks?limit=0", "request_invalid", "limit"],
  ["/tasks?limit=101", "request_invalid", "limit"],
  ["/tasks?limit=-1", "request_invalid", "limit"],
  ["/tasks?limit=1.5", "request_invalid", "limit"],
  ["/tasks?limit=ten", "request_invalid", "limit"],
  ["/tasks?limit=", "request_invalid", "limit"],
  ["/tasks?limit=1e1", "request_invalid", "limit"],
  ["/tasks?limit=99999999999999999999", "request_invalid", "limit"],
  ["/tasks?limit=5&limit=6", "request_invalid", "limit"],
  ["/tasks?after=x", "request_invalid", "after"],
  ["/tasks?after=", "request_invalid", "after"],
  ["/tasks?after=step_01kbb1d3x4e8v0t6m9q2y5z7av", "request_invalid", "after"],
  [`/tasks?after=${id}'--`, "request_invalid", "after"],
  ["/tasks?before=%00", "request_invalid", "before"],
  [`/tasks?after=${id}&before=${id}`, "request_invalid", "before"],
  ["/tasks?order=up", "request_invalid", "order"],
  ["/tasks?order=DESC", "request_invalid", "order"],
  ["/tasks?status=done", "request_invalid", "status"],
  ["/tasks?status=waiting", "request_invalid", "status"],
  ["/tasks?kind=movie", "invalid_kind", "kind"],
  ["/tasks?kind=probe", "invalid_kind", "kind"],
  ["/tasks?page=2", "request_invalid", "page"],
  ["/tasks?__proto__=1", "request_invalid", "__proto__"],
  [`/steps?after=${id}`, "request_invalid", "after"],
  ["/steps?status=queued", "request_invalid", "status"],
  ["/steps?kind=encode", "invalid_kind", "kind"],
])("%s is %s of %s", async (path, kind, param) => {
  const response = await app.request(path, { headers: KEY });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ kind, param });
});
