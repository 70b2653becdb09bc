import { expect, test } from "vitest";
import { createMemoryApi, KEY } from "./memory-api.ts";

const { app, tasks } = createMemoryApi();

async function ask(body: object, headers: Record<string, string> = KEY, path = "/estimates") {
  const response = await app.request(path, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

const REQUEST = { input: "https://example.com/clip.mov", kind: "video", options: { width: 640 } };

test("an estimate needs a key, and answers with bounds of the size", async () => {
  expect(await ask(REQUEST, {})).toMatchObject({ status: 401, answer: { kind: "token_missing" } });
  expect(await ask(REQUEST)).toEqual({
    status: 200,
    answer: { bytes: { low: 1000, high: 1000 }, seconds: 1, score: null },
  });
});

test.each([
  [
    { ...REQUEST, kind: "movie" },
    { kind: "invalid_kind", param: "kind" },
  ],
  [
    { ...REQUEST, options: { fps: 0 } },
    { kind: "invalid_options", param: "options.fps" },
  ],
  [
    { ...REQUEST, output: "s3://a/b" },
    { kind: "request_invalid", param: "output" },
  ],
  [
    { ...REQUEST, input: "http://127.0.0.1/clip.mov" },
    { kind: "invalid_input", param: "input" },
  ],
  [
    { ...REQUEST, input: "s3://bucket/clip.mov" },
    { kind: "invalid_input", param: "input" },
  ],
])("refuses %j", async (body, error) => {
  expect(await ask(body)).toMatchObject({ status: 400, answer: error });
  expect(await ask(body, KEY, "/previews")).toMatchObject({ status: 400, answer: error });
  expect(tasks.find("task_01kaggm8q0fzr2n5v3x7c1d9ja")).toBeNull();
});

test("an estimate of an input that lacks sound answers with the error of the work and its reason", async () => {
  const { status, answer } = await ask({ ...REQUEST, kind: "audio", options: {} });
  expect(status).toBe(415);
  expect(answer).toEqual({
    kind: "input_no_audio",
    message: "The source has no sound; use kind video or image.",
    reason: { code: "no_sound" },
    request_id: expect.any(String),
  });
});

test("a preview needs a key and a moment of the source, and answers with its files as data URLs", async () => {
  const body = { ...REQUEST, at: 2.5 };
  expect(await ask(body, {}, "/previews")).toMatchObject({ status: 401, answer: { kind: "token_missing" } });
  const file = expect.stringMatching(/^data:image\/jpeg;base64,/);
  expect(await ask(body, KEY, "/previews")).toEqual({
    status: 200,
    answer: { original: file, output: file, bytes: 3, seconds: null, at: 2.5, width: 1, height: 1 },
  });
  expect(await ask({ ...REQUEST, at: -1 }, KEY, "/previews")).toMatchObject({
    status: 400,
    answer: { param: "at" },
  });
  expect(await ask({ ...REQUEST, kind: "audio", options: {} }, KEY, "/previews")).toMatchObject({
    status: 415,
    answer: { kind: "input_no_audio" },
  });
});
