import { expect, test } from "vitest";
import type { NativeState } from "../../src/encoders/native/native-wire.ts";
import { client, encoder, job, posts, QUICK, running, WRITTEN } from "./native-client.ts";
import { DONE, type Reply, startScripted } from "./scripted-native.ts";

test("sends the job to the next encoder when one is unreachable", async () => {
  const [gone, there] = [await startScripted("gone"), await encoder("there")];
  await gone.close();
  expect(await client([gone, there]).encode(job())).toEqual(WRITTEN);
});

test("gives up with worker_lost when no encoder is reachable", async () => {
  const gone = await startScripted("gone");
  await gone.close();
  const rejection = expect(client([gone]).encode(job())).rejects;
  await rejection.toMatchObject({
    ...{ kind: "worker_lost", retryable: true, message: "The native encoder gone cannot be reached." },
  });
});

test("awaits the only encoder while it is away, and one that refuses for a moment only", async () => {
  const there = await encoder("there");
  let tries = 0;
  const away = {
    name: "away",
    fetch: (path: string, init?: RequestInit) =>
      ++tries <= 20 ? Promise.reject(new Error("refused")) : there.fetch(path, init),
  };
  const timeouts = { ...QUICK, awayMs: 600_000 };
  expect(await client([away], { timeouts }).encode(job())).toEqual(WRITTEN);
  expect(posts(there)).toEqual([1]);
  const denying = await encoder("denying", { start: [{ status: 401, text: "{}" }] });
  await expect(client([denying], { timeouts }).encode(job())).rejects.toMatchObject({ kind: "worker_lost" });
});

const OF_HOSTS = [
  { status: 502, text: "" },
  { status: 503, text: "<html>upstream unavailable" },
  { status: 429, text: "starting" },
];
test.for(OF_HOSTS)(
  "awaits an encoder behind a host that answers $status, but not for ever",
  async (reply) => {
    const timeouts = { ...QUICK, awayMs: 600_000 };
    const back = await encoder("back", { start: [...Array(20).fill(reply), DONE] });
    expect(await client([back], { timeouts }).encode(job())).toEqual(WRITTEN);
    const polled = await encoder("polled", { ask: [reply, DONE] });
    expect(await client([polled], { timeouts: { ...QUICK, restartMs: 2000 } }).encode(job())).toEqual(
      WRITTEN,
    );
    expect(posts(polled)).toHaveLength(1);
    const gone = await encoder("gone", { start: [reply] });
    const encoding = client([gone], { timeouts: { ...QUICK, awayMs: 100 } }).encode(job());
    await expect(encoding).rejects.toMatchObject({ kind: "worker_lost", retryable: true });
  },
);

test("survives a brief network fault without a new start", async () => {
  const one = await encoder("one", {
    ask: ["cut", { status: 502, text: "<html>" }, running(0.9), "half", DONE],
  });
  const [two] = [await encoder("two")];
  // Leaves a second or more for the network to recover, as the retries back off.
  expect(await client([one, two], { timeouts: { ...QUICK, restartMs: 2000 } }).encode(job())).toEqual(
    WRITTEN,
  );
  expect(posts(one, two)).toEqual([1, 0]);
});

test("replaces an encoder that disappears between start and progress", async () => {
  const [one, two] = [await encoder("one", { ask: ["silent"] }), await encoder("two")];
  const encoding = client([one, two]).encode(job());
  await one.arrival("GET");
  await one.close();
  expect(await encoding).toEqual(WRITTEN);
  expect(posts(one, two)).toEqual([1, 1]);
});

test("sends the job again to an encoder that lost it in a restart when there is no other", async () => {
  const one = await encoder("one", { ask: [running(0.4), { status: 404, text: "{}" }, running(0.2), DONE] });
  const shares: number[] = [];
  expect(await client([one]).encode(job({ onProgress: (share) => shares.push(share) }))).toEqual(WRITTEN);
  expect(posts(one)).toEqual([2]);
  expect(shares).toEqual([0, 0.4, 0.4, 0.4]);
});

const html = { status: 200, text: "<!doctype html><p>Hello</p>", mime: "text/html" };
const done = (file: Record<string, unknown>, more: object = {}): Reply => ({
  status: 200,
  text: JSON.stringify({
    ...DONE,
    written: [{ name: "out.mp4", mime: "video/mp4", size: 1, ...file }],
    ...more,
  }),
});
const BAD_ANSWERS: [string, Reply][] = [
  ["an HTML page", html],
  ["an empty body", { status: 200 }],
  ["half an answer", "half"],
  ["an endless answer", "endless"],
  ["no answer", "silent"],
  ["a broken connection", "cut"],
  ["a redirect", { status: 302 }],
  [
    "a rejected protocol version",
    { status: 400, text: '{"kind":"request_invalid","message":"It must be 1.","param":"protocol"}' },
  ],
  ["a rejected token", { status: 401, text: '{"kind":"token_invalid","message":"token"}' }],
  ["a server error", { status: 500, text: "oops" }],
  ["null", { status: 200, text: "null" }],
  ["an unexpected shape", { status: 200, text: '{"ok":true}' }],
  ["an unknown state", { status: 200, text: '{"state":"sleeping"}' }],
  ["a share of 7", { status: 200, text: '{"state":"running","share":7,"speed":null}' }],
  ["an unknown error kind", { status: 200, text: '{"state":"failed","error":{"kind":"oops"}}' }],
  ["no file", { status: 200, text: '{"state":"done","written":[],"playlists":[]}' }],
  ["an empty file", done({ size: 0 })],
  ["half a byte", done({ size: 0.5 })],
  ["a path outside the folder", done({ name: "../out.mp4" })],
  ["an absolute path", done({ name: "/out.mp4" })],
  ["an unexpected file", done({ name: "other.mp4" })],
  ["an unexpected playlist", done({}, { playlists: [{ name: "a.m3u8", mime: "text/plain", text: "x" }] })],
];

test.for(BAD_ANSWERS)("replaces an encoder that answers a poll with %s", async ([, reply]) => {
  const [faulty, two] = [await encoder("faulty", { ask: [reply] }), await encoder("two")];
  expect(await client([faulty, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(faulty, two)).toEqual([1, 1]);
});

test.for(BAD_ANSWERS)("replaces an encoder that answers a job with %s", async ([, reply]) => {
  const [faulty, two] = [await encoder("faulty", { start: [reply] }), await encoder("two")];
  expect(await client([faulty, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(faulty, two)).toEqual([1, 1]);
});

test("rejects file names of adaptive video that leave its folder or occur twice", async () => {
  const remote = async () => ({
    input: { url: "http://service/in", size: 5000, etag: "v1" },
    ...{ folder: "http://service/out/", name: null },
  });
  const file = (name: string) => ({ name, mime: "video/mp4", size: 1 });
  for (const names of [["a/../../b"], ["a//b"], ["a/./b"], ["a%2fb"], ["a?b"], ["a\\b"], ["a", "a"], [""]]) {
    const text = JSON.stringify({ state: "done", written: names.map(file), playlists: [] });
    const faulty = await encoder("faulty", { start: [{ status: 200, text }] });
    await expect(client([faulty]).encode(job({ remote }))).rejects.toMatchObject({ kind: "worker_lost" });
  }
});

test("starts a job at most three times", async () => {
  const all = await Promise.all(["a", "b"].map((name) => encoder(name, { ask: [{ status: 404 }] })));
  await expect(client(all).encode(job())).rejects.toMatchObject({
    ...{ kind: "worker_lost", message: "The native encoder a has lost the job." },
  });
  expect(posts(...all)).toEqual([2, 1]);
});

test.for([
  { kind: "input_unsupported", retryable: false },
  { kind: "out_of_memory", retryable: false },
  { kind: "storage_full", retryable: false },
  { kind: "input_unreachable", retryable: true },
  { kind: "stalled", retryable: true },
] as const)("does not retry a job that fails with $kind", async ({ kind, retryable }) => {
  const failed: NativeState = { state: "failed", error: { kind, message: "It went wrong.", retryable } };
  const [one, two] = [await encoder("one", { ask: [failed] }), await encoder("two")];
  const rejection = expect(client([one, two]).encode(job())).rejects;
  await rejection.toMatchObject({ name: "MediaError", kind, retryable, message: "It went wrong." });
  expect(posts(one, two)).toEqual([1, 0]);
});

test("retries elsewhere when an encoder returns a job at shutdown", async () => {
  const error = { kind: "worker_lost", message: "The encoder is being shut down.", retryable: true } as const;
  const one = await encoder("one", { ask: [running(0.5), { state: "failed", error }] });
  const two = await encoder("two");
  expect(await client([one, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(one, two)).toEqual([1, 1]);
});

test("progress never decreases after a stale answer, and a finished job can be sent again", async () => {
  const one = await encoder("one", { ask: [running(0.6), running(0.3), running(0.6), DONE, DONE] });
  const shares: number[] = [];
  const onProgress = (share: number) => shares.push(share);
  expect(await client([one]).encode(job({ onProgress }))).toEqual(WRITTEN);
  // The job is sent again, as after a restart; the encoder has already finished it.
  const restarted = await encoder("again", { start: [DONE] });
  expect(await client([restarted]).encode(job())).toEqual(WRITTEN);
  expect(shares).toEqual([0, 0.6, 0.6, 0.6]);
});

test.for([
  { what: "the plan", kind: "request_invalid", status: 400 },
  { what: "its length", kind: "payload_too_large", status: 413 },
] as const)("fails at once when an encoder rejects $what of a job", async ({ what, kind, status }) => {
  const text = JSON.stringify({ kind, message: `${what} is wrong.`, param: "plan" });
  const [one, two] = [await encoder("one", { start: [{ status, text }] }), await encoder("two")];
  await expect(client([one, two]).encode(job())).rejects.toMatchObject({
    ...{ name: "MediaError", kind: "encode_failed", retryable: false },
    message: `The native encoder one did not accept the job: ${what} is wrong.`,
  });
  expect(posts(one, two)).toEqual([1, 0]);
});
