import { afterAll, beforeAll, expect, test } from "vitest";
import type { Update } from "../../../src/client/client.ts";
import { readEvents } from "../../../src/client/read-events.ts";
import type { Task } from "../../../src/runs/task.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { createRig } from "./rig.ts";

const rig = createRig();
let origin: Origin;
let base: string;

beforeAll(async () => {
  const [started, { url }] = await Promise.all([startOrigin(), rig.server.listen()]);
  origin = started;
  base = url.origin;
});
afterAll(async () => {
  await rig.server.close();
  await origin?.close();
});

interface Event {
  id: number;
  update: Update<Task>;
}

const ask = (id: string, headers: Record<string, string> = {}, key = "key-of-alpha") =>
  fetch(`${base}/tasks/${id}/events`, { headers: { Authorization: `Bearer ${key}`, ...headers } });

async function* read(response: Response): AsyncGenerator<Event> {
  for await (const { event, id, data } of readEvents(response.body as ReadableStream<Uint8Array>)) {
    expect(event).toBe("update");
    yield { id: Number(id), update: JSON.parse(data) };
  }
}

async function create(body: object): Promise<Task> {
  return (await rig.call("/tasks", { method: "POST", body })).json;
}

test("follows a task to its end, resumes after a break and answers 204 after the end", async () => {
  const input = origin.serve("/clip.mp4", {
    file: await clip("mp4", { seconds: 4 }),
    bytes_per_second: 60_000,
  });
  const { id } = await create({ input, kind: "video", options: { width: 160 } });
  const first = await ask(id);
  expect([first.status, first.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const events: Event[] = [];
  for await (const event of read(first)) {
    events.push(event);
    // The connection breaks.
    if (event.update.record.status === "processing") break;
  }
  const seen = events.at(-1)?.id ?? 0;
  for await (const event of read(await ask(id, { "Last-Event-ID": String(seen) }))) events.push(event);
  const ids = events.map((event) => event.id);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  const done = await rig.finished(id);
  const { encoder, reason, refusals } = done.steps[2]?.output ?? {};
  const choice = { encoder, reason, ...(refusals && { refusals }) };
  expect(events.at(-1)?.update).toEqual({ record: done, progress: 100, speed: null, eta: null, choice });
  expect([done.status, events[0]?.update.record.id]).toEqual(["succeeded", id]);
  const reconnect = await ask(id, { "Last-Event-ID": String(ids.at(-1)) });
  expect([reconnect.status, await reconnect.text()]).toEqual([204, ""]);
});

test("rejects another project's task, an unknown task and a malformed event id", async () => {
  const input = origin.serve("/hang.mp4", { silent: true });
  const { id } = await create({ input, kind: "video" });
  expect((await ask(id, {}, "key-of-beta")).status).toBe(404);
  expect((await ask("task_00000000000000000000000000")).status).toBe(404);
  const wrong = await ask(id, { "Last-Event-ID": "last" });
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { param: "Last-Event-ID" }]);
  await rig.call(`/tasks/${id}/cancel`, { method: "POST" });
});
