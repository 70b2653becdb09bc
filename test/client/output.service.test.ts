import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { createRemoteClient } from "../../src/client/remote.ts";
import type { Task } from "../../src/runs/task.ts";
import { EVENTS, finish, history, QUEUED, SOURCE } from "./records.ts";
import { refusal, type ScriptedApi, startScriptedApi } from "./scripted-api.ts";

const BYTES = Buffer.from("the bytes of the output");
const PATH = "/media/signature.1/out/a.mp4";

let api: ScriptedApi;
let client: Client;
let done: Task;
beforeEach(async () => {
  api = await startScriptedApi();
  client = createRemoteClient({ baseUrl: api.url, apiKey: "k" });
  done = endedWith(api.url + PATH);
});
afterEach(async () => {
  await client.close();
  await api.close();
});

function endedWith(url: string): Task {
  const task = history([...EVENTS.slice(0, -1), finish(3, { ...SOURCE, url })]).at(-1);
  if (task?.status !== "succeeded") throw new Error("not the end of a task");
  return task;
}

/** Reads the output as a blob and as a stream; returns their errors. */
async function failures() {
  const output = await client.output(done);
  const reads = [output.blob(), output.stream().then((stream) => new Response(stream).text())];
  return (await Promise.allSettled(reads)).map((each) => {
    if (each.status === "fulfilled") throw new Error("it was read");
    const { kind, message, retryable } = each.reason;
    return { kind, message, retryable };
  });
}

test("fetches the bytes from the signed URL, without the key", async () => {
  api.at(PATH, { file: BYTES, mime: "video/mp4" });
  const output = await client.output(done);
  expect(output.source.url).toBe(api.url + PATH);
  expect(await output.url()).toBe(api.url + PATH);
  const blob = await output.blob();
  expect([blob.type, await blob.text()]).toEqual(["video/mp4", BYTES.toString()]);
  expect(await new Response(await output.stream()).text()).toBe(BYTES.toString());
  expect(api.log.map(({ path, headers }) => [path, headers.authorization])).toEqual([
    [PATH, undefined],
    [PATH, undefined],
  ]);
});

test("closes the connection when the stream is cancelled", async () => {
  api.at(PATH, { file: Buffer.alloc(50_000_000), mime: "video/mp4" });
  const reader = (await (await client.output(done)).stream()).getReader();
  expect((await reader.read()).done).toBe(false);
  await reader.cancel();
  await expect.poll(() => api.log[0]?.done).toBe(true);
  expect(api.log[0]?.bytes).toBeLessThan(50_000_000);
});

test("reads the run first when given an id or an unfinished record", async () => {
  api.at(`/tasks/${done.id}`, done);
  for (const run of [done.id, QUEUED]) expect((await client.output(run)).source.url).toBe(api.url + PATH);
  expect(api.requestsTo(`/tasks/${done.id}`)).toEqual(["GET 200", "GET 200"]);
});

test.for([
  {
    name: "a 404 of the service",
    answer: refusal(404, { kind: "media_not_found", message: "Gone." }),
    kind: "media_not_found",
    retryable: false,
  },
  {
    name: "a 404 of another host",
    answer: refusal(404, "<html>"),
    kind: "media_not_found",
    retryable: false,
  },
  {
    name: "a 403 of the service",
    answer: refusal(403, { kind: "forbidden", message: "Expired." }),
    kind: "forbidden",
    retryable: false,
  },
  { name: "a 403 of another host", answer: refusal(403, "<Error/>"), kind: "forbidden", retryable: false },
  { name: "a 502", answer: refusal(502, "<html>"), kind: "service_unavailable", retryable: true },
  {
    name: "a truncated body",
    answer: { file: BYTES, cut_after: 5 },
    kind: "service_unavailable",
    retryable: true,
  },
] as const)("after $name, reading the output rejects with $answer", async ({ answer, kind, retryable }) => {
  api.at(PATH, answer);
  for (const failed of await failures()) {
    expect(failed).toMatchObject({ kind, retryable });
    // Anyone with the signed URL can read the media.
    expect(failed.message).not.toMatch(/signature|127\.0\.0\.1/);
  }
});

test("rejects when the media host is unreachable", async () => {
  await api.close();
  const error = {
    ...{ kind: "service_unavailable", message: "The connection to the media was lost; try again." },
    retryable: true,
  };
  expect(await failures()).toEqual([error, error]);
});

test("returns no output for media in the customer's bucket", async () => {
  await expect(client.output(endedWith("s3://bucket/a.mp4"))).rejects.toMatchObject({
    kind: "media_not_found",
  });
});

test("says why a run has no output", async () => {
  const half = history()[7] ?? QUEUED;
  api.at(`/tasks/${QUEUED.id}`, half);
  await expect(client.output(QUEUED)).rejects.toMatchObject({
    ...{ kind: "media_not_found", message: "There is no output: the task is processing, not succeeded." },
  });
  const probe = done.steps[0];
  if (!probe) throw new Error("no probe");
  await expect(client.output(probe)).rejects.toMatchObject({
    ...{ kind: "media_not_found", message: "There is no output: a probe only inspects its input." },
  });
});
