import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { createRemoteClient } from "../../src/client/remote/remote.ts";
import type { Task } from "../../src/core/task.ts";
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

/** Reads the output in each of its ways; gives what they reject with. */
async function failures() {
  const output = await client.output(done);
  const reads = [output.blob(), output.stream().then((stream) => new Response(stream).text())];
  return (await Promise.allSettled(reads)).map((each) => {
    if (each.status === "fulfilled") throw new Error("it was read");
    const { kind, message, retryable } = each.reason;
    return { kind, message, retryable };
  });
}

test("the bytes come by the signed URL alone: no key goes there", async () => {
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

test("a stream that nobody reads on lets go of the connection", async () => {
  api.at(PATH, { file: Buffer.alloc(50_000_000), mime: "video/mp4" });
  const reader = (await (await client.output(done)).stream()).getReader();
  expect((await reader.read()).done).toBe(false);
  await reader.cancel();
  await expect.poll(() => api.log[0]?.done).toBe(true);
  expect(api.log[0]?.bytes).toBeLessThan(50_000_000);
});

test("by an id, or a record that was not at its end, the run is read first", async () => {
  api.at(`/tasks/${done.id}`, done);
  for (const run of [done.id, QUEUED]) expect((await client.output(run)).source.url).toBe(api.url + PATH);
  expect(api.asked(`/tasks/${done.id}`)).toEqual(["GET 200", "GET 200"]);
});

test.for([
  ["gone", refusal(404, { kind: "media_not_found", message: "Gone." }), "media_not_found", false],
  ["gone from elsewhere", refusal(404, "<html>"), "media_not_found", false],
  ["no longer signed", refusal(403, { kind: "forbidden", message: "Expired." }), "forbidden", false],
  ["refused elsewhere", refusal(403, "<Error/>"), "forbidden", false],
  ["away", refusal(502, "<html>"), "service_unavailable", true],
  ["cut short", { file: BYTES, cut_after: 5 }, "service_unavailable", true],
] as const)("media that are %s are %s", async ([, answer, kind, retryable]) => {
  api.at(PATH, answer);
  for (const failed of await failures()) {
    expect(failed).toMatchObject({ kind, retryable });
    // It opens the media for whoever has it.
    expect(failed.message).not.toMatch(/signature|127\.0\.0\.1/);
  }
});

test("a media host that cannot be reached is an error", async () => {
  await api.close();
  const error = {
    ...{ kind: "service_unavailable", message: "The connection to the media was lost; try again." },
    retryable: true,
  };
  expect(await failures()).toEqual([error, error]);
});

test("what was put into a bucket is not given out by us", async () => {
  await expect(client.output(endedWith("s3://bucket/a.mp4"))).rejects.toMatchObject({
    kind: "media_not_found",
  });
});

test("a run without an output says why", async () => {
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
