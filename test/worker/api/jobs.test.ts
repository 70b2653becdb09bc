import { expect, test } from "vitest";
import type { Job } from "../../../src/runs/job.ts";
import { createMemoryApi, KEY } from "./memory-api.ts";

const input = "https://example.com/clip.mov";
const video = { kind: "video" } as const;

async function post(body: unknown, api = createMemoryApi()) {
  const headers = { ...KEY, "Content-Type": "application/json" };
  const answer = await api.app.request("/jobs", { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as Job };
}

const many = (count: number) => Array.from({ length: count }, () => video);

test.each<{ name: string; body: unknown; kind: string; param?: string; message: string }>([
  {
    name: "no input",
    body: { outputs: [video] },
    kind: "input_required",
    param: "input",
    message: "input is required: the URL of the source.",
  },
  {
    name: "an input of another scheme",
    body: { input: "ftp://example.com/a", outputs: [video] },
    kind: "invalid_input",
    param: "input",
    message: "input must be a URL that starts with http://, https://, s3://.",
  },
  {
    name: "no outputs",
    body: { input },
    kind: "request_invalid",
    param: "outputs",
    message: "outputs must be a list of 1 to 10 outputs.",
  },
  {
    name: "none in the list",
    body: { input, outputs: [] },
    kind: "request_invalid",
    param: "outputs",
    message: "outputs must be a list of 1 to 10 outputs.",
  },
  {
    name: "eleven",
    body: { input, outputs: many(11) },
    kind: "request_invalid",
    param: "outputs",
    message: "outputs must be a list of 1 to 10 outputs.",
  },
  {
    name: "an unknown field",
    body: { input, outputs: [video], kind: "video" },
    kind: "request_invalid",
    param: "kind",
    message: 'Unknown field "kind"; the fields are input, outputs, webhook_url.',
  },
  {
    name: "an option out of range",
    body: { input, outputs: [video, { ...video, options: { fps: 61 } }] },
    kind: "invalid_options",
    param: "outputs.1.options.fps",
    message: "outputs.1.options.fps must be a number from 1 to 60.",
  },
  {
    name: "a codec of another format",
    body: { input, outputs: [{ ...video, options: { format: "webm", codec: "h264" } }] },
    kind: "invalid_codec",
    param: "outputs.0.options.codec",
    message: expect.stringMatching(/^outputs\.0/),
  },
  {
    name: "an unknown kind",
    body: { input, outputs: [{ kind: "film" }] },
    kind: "invalid_kind",
    param: "outputs.0.kind",
    message: expect.stringMatching(/^outputs\.0: Unknown kind "film"/),
  },
  {
    name: "a destination that is none",
    body: { input, outputs: [{ ...video, output: "/tmp/a" }] },
    kind: "invalid_output",
    param: "outputs.0.output",
    message: expect.stringMatching(/^outputs\.0\.output must/),
  },
  {
    name: "an input of its own",
    body: { input, outputs: [{ ...video, input }] },
    kind: "request_invalid",
    param: "outputs.0.input",
    message: 'outputs.0: Unknown field "input" of an output: the job has one for all its outputs.',
  },
  {
    name: "a name twice",
    body: {
      input,
      outputs: [
        { ...video, name: "a" },
        { ...video, name: "a" },
      ],
    },
    kind: "request_invalid",
    param: "outputs.1.name",
    message: "outputs.1: name must differ from the names of the other outputs.",
  },
  {
    name: "a name with a slash",
    body: { input, outputs: [{ ...video, name: "a/b" }] },
    kind: "request_invalid",
    param: "outputs.0.name",
    message: "outputs.0.name must consist of letters, digits, . _ and -.",
  },
  {
    name: "after an output that is not there",
    body: { input, outputs: [{ ...video, after: "b" }] },
    kind: "request_invalid",
    param: "outputs.0.after",
    message: "outputs.0: after must name another output of the job.",
  },
  {
    name: "after an index that is not there",
    body: { input, outputs: [{ ...video, after: 1 }] },
    kind: "request_invalid",
    param: "outputs.0.after",
    message: "outputs.0: after must name another output of the job.",
  },
  {
    name: "after itself",
    body: { input, outputs: [{ ...video, after: 0 }] },
    kind: "request_invalid",
    param: "outputs.0.after",
    message: "outputs.0: after leads back to the output itself.",
  },
  {
    name: "a circle",
    body: { input, outputs: [video, { ...video, after: 2 }, { ...video, after: 1 }] },
    kind: "request_invalid",
    param: "outputs.1.after",
    message: "outputs.1: after leads back to the output itself.",
  },
  {
    name: "after a storyboard",
    body: { input, outputs: [{ kind: "storyboard" }, { ...video, after: 0 }] },
    kind: "request_invalid",
    param: "outputs.1.after",
    message: "outputs.1: after names an output of kind storyboard, which is not a single file.",
  },
  ...[{ interval: 1 }, { count: 2 }].map((options) => ({
    name: `after stills by ${Object.keys(options)}`,
    body: {
      input,
      outputs: [
        { kind: "image", options },
        { kind: "image", after: 0 },
      ],
    },
    kind: "request_invalid",
    param: "outputs.1.after",
    message: "outputs.1: after names an output of several stills, which is not a single file.",
  })),
  {
    name: "after a waveform that is data",
    body: {
      input,
      outputs: [
        { kind: "image", after: "peaks" },
        { kind: "waveform", name: "peaks" },
      ],
    },
    kind: "request_invalid",
    param: "outputs.0.after",
    message:
      'outputs.0: after names an output of kind waveform as json, which is data; only "png" can be read.',
  },
])("$name is refused, and nothing is created", async ({ body, kind, param, message }) => {
  const api = createMemoryApi();
  const { status, json } = await post(body, api);
  expect([status, json]).toEqual([400, expect.objectContaining({ kind, param, message })]);
  const tasks = await api.app.request("/tasks", { headers: KEY });
  expect(await tasks.json()).toEqual([]);
});

test("every output is a task with the input of the job, and its options checked and completed", async () => {
  const api = createMemoryApi();
  const outputs = [
    { kind: "video", name: "a", after: null, options: { width: 640 }, metadata: { x: 1 } },
    { kind: "image", name: null, after: "a", options: null },
    { kind: "audio", after: 1 },
    { kind: "waveform", name: "peaks", options: { format: "png" } },
    { kind: "image", after: "peaks" },
  ];
  const { status, json } = await post({ input, outputs, webhook_url: null }, api);
  expect([status, json.status, json.input]).toEqual([201, "queued", input]);
  const [one, two, , four] = json.tasks;
  expect(json.tasks.map(({ job }) => job)).toEqual([
    { id: json.id, name: "a" },
    { id: json.id, after: one?.id },
    { id: json.id, after: two?.id },
    { id: json.id, name: "peaks" },
    { id: json.id, after: four?.id },
  ]);
  expect(one).toMatchObject({ kind: "video", input, options: { width: 640 }, metadata: { x: 1 } });
  const listed = await api.app.request("/tasks?order=asc", { headers: KEY });
  expect(await listed.json()).toEqual(json.tasks);
});

test("every output counts as a creation", async () => {
  const api = createMemoryApi({}, {}, { creations: 3 });
  const { status, headers } = await post({ input, outputs: many(2) }, api);
  expect([status, headers.get("RateLimit")]).toEqual([
    201,
    expect.stringMatching(/^"requests";r=\d+;t=\d+, "creations";r=1;t=\d+$/),
  ]);
  const refused = await post({ input, outputs: many(2) }, api);
  expect([refused.status, (refused.json as unknown as { kind: string }).kind]).toEqual([429, "rate_limited"]);
  expect(await (await api.app.request("/jobs", { headers: KEY })).json()).toHaveLength(1);
});

test("a job beyond the limit of creations counts as one request, and uses up nothing for its outputs", async () => {
  const api = createMemoryApi({}, {}, { creations: 4 });
  const refused = await post({ input, outputs: many(5) }, api);
  expect([refused.status, refused.headers.get("RateLimit")]).toEqual([
    429,
    expect.stringContaining('"creations";r=3;'),
  ]);
  expect((await post({ input, outputs: many(3) }, api)).status).toBe(201);
});

test("a task that waited for an output that never came is not retried with the job's input", async () => {
  const api = createMemoryApi();
  const { json } = await post({ input, outputs: [video, { ...video, after: 0 }] }, api);
  const call = (path: string) => api.app.request(path, { method: "POST", headers: KEY });
  expect((await call(`/jobs/${json.id}/cancel`)).status).toBe(200);
  const [first, second] = json.tasks;
  const refused = await call(`/tasks/${second?.id}/retry`);
  expect([refused.status, await refused.json()]).toEqual([
    400,
    expect.objectContaining({
      kind: "invalid_input",
      param: "input",
      message: `The input is the output of ${first?.id}, which was never produced; create the task again with an input of its own.`,
    }),
  ]);
  const retry = await call(`/tasks/${first?.id}/retry`);
  expect([retry.status, await retry.json()]).toEqual([201, expect.objectContaining({ input })]);
});
