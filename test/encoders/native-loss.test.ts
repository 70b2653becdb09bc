import { expect, test } from "vitest";
import type { NativeState } from "../../src/encoders/native/native-wire.ts";
import { client, encoder, job, posts, QUICK, running, WRITTEN } from "./native-client.ts";
import { DONE, type Reply, startScripted } from "./scripted-native.ts";

test("an encoder that cannot be reached leaves the job to the next one", async () => {
  const [gone, there] = [await startScripted("gone"), await encoder("there")];
  await gone.close();
  expect(await client([gone, there]).encode(job())).toEqual(WRITTEN);
});

test("with no encoder in reach it gives up after a while", async () => {
  const gone = await startScripted("gone");
  await gone.close();
  const rejection = expect(client([gone]).encode(job())).rejects;
  await rejection.toMatchObject({
    ...{ kind: "worker_lost", retryable: true, message: "The native encoder gone cannot be reached." },
  });
});

test("a short fault of the network costs nothing", async () => {
  const one = await encoder("one", {
    ask: ["cut", { status: 502, text: "<html>" }, running(0.9), "half", DONE],
  });
  const [two] = [await encoder("two")];
  // The network is given a second to mend: each further try comes later.
  expect(await client([one, two], { timeouts: { ...QUICK, restartMs: 2000 } }).encode(job())).toEqual(
    WRITTEN,
  );
  expect(posts(one, two)).toEqual([1, 0]);
});

test("an encoder that goes away between start and progress is replaced", async () => {
  const [one, two] = [await encoder("one", { ask: ["silent"] }), await encoder("two")];
  const encoding = client([one, two]).encode(job());
  await one.asked("GET");
  await one.close();
  expect(await encoding).toEqual(WRITTEN);
  expect(posts(one, two)).toEqual([1, 1]);
});

test("an encoder that has restarted and lost the job is given it again where there is no other", async () => {
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
const NONSENSE: [string, Reply][] = [
  ["a page", html],
  ["nothing", { status: 200 }],
  ["half an answer", "half"],
  ["an endless answer", "endless"],
  ["no answer", "silent"],
  ["a broken connection", "cut"],
  ["a redirect", { status: 302 }],
  [
    "a refusal of the protocol",
    { status: 400, text: '{"kind":"request_invalid","message":"It must be 1.","param":"protocol"}' },
  ],
  ["a refusal of the token", { status: 401, text: '{"kind":"token_invalid","message":"token"}' }],
  ["a fault of the server", { status: 500, text: "oops" }],
  ["null", { status: 200, text: "null" }],
  ["another shape", { status: 200, text: '{"ok":true}' }],
  ["a state that is none", { status: 200, text: '{"state":"sleeping"}' }],
  ["a share of 7", { status: 200, text: '{"state":"running","share":7,"speed":null}' }],
  ["an error that is none", { status: 200, text: '{"state":"failed","error":{"kind":"oops"}}' }],
  ["no file", { status: 200, text: '{"state":"done","written":[],"playlists":[]}' }],
  ["an empty file", done({ size: 0 })],
  ["half a byte", done({ size: 0.5 })],
  ["a path that leaves the folder", done({ name: "../out.mp4" })],
  ["a path from the root", done({ name: "/out.mp4" })],
  ["a file that nobody asked for", done({ name: "other.mp4" })],
  [
    "a playlist that nobody asked for",
    done({}, { playlists: [{ name: "a.m3u8", mime: "text/plain", text: "x" }] }),
  ],
];

test.for(NONSENSE)("an encoder that answers %s when asked is replaced", async ([, reply]) => {
  const [mad, two] = [await encoder("mad", { ask: [reply] }), await encoder("two")];
  expect(await client([mad, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(mad, two)).toEqual([1, 1]);
});

test.for(NONSENSE)("an encoder that answers %s to a job is replaced", async ([, reply]) => {
  const [mad, two] = [await encoder("mad", { start: [reply] }), await encoder("two")];
  expect(await client([mad, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(mad, two)).toEqual([1, 1]);
});

test("names of files in adaptive video stay within its folder, and are there once", async () => {
  const remote = async () => ({
    input: { url: "http://service/in", size: 5000, etag: "v1" },
    ...{ folder: "http://service/out/", name: null },
  });
  const file = (name: string) => ({ name, mime: "video/mp4", size: 1 });
  for (const names of [["a/../../b"], ["a//b"], ["a/./b"], ["a%2fb"], ["a?b"], ["a\\b"], ["a", "a"], [""]]) {
    const text = JSON.stringify({ state: "done", written: names.map(file), playlists: [] });
    const mad = await encoder("mad", { start: [{ status: 200, text }] });
    await expect(client([mad]).encode(job({ remote }))).rejects.toMatchObject({ kind: "worker_lost" });
  }
});

test("three starts are all that a job gets", async () => {
  const all = await Promise.all(["a", "b"].map((name) => encoder(name, { ask: [{ status: 404 }] })));
  await expect(client(all).encode(job())).rejects.toMatchObject({
    ...{ kind: "worker_lost", message: "The native encoder a has lost the job." },
  });
  expect(posts(...all)).toEqual([2, 1]);
});

test.for([
  ["input_unsupported", false],
  ["out_of_memory", false],
  ["storage_full", false],
  ["input_unreachable", true],
  ["stalled", true],
] as const)("a job that fails with %s is not tried elsewhere", async ([kind, retryable]) => {
  const failed: NativeState = { state: "failed", error: { kind, message: "It went wrong.", retryable } };
  const [one, two] = [await encoder("one", { ask: [failed] }), await encoder("two")];
  const rejection = expect(client([one, two]).encode(job())).rejects;
  await rejection.toMatchObject({ name: "MediaError", kind, retryable, message: "It went wrong." });
  expect(posts(one, two)).toEqual([1, 0]);
});

test("a job that is handed back is done elsewhere", async () => {
  const error = { kind: "worker_lost", message: "The encoder is being shut down.", retryable: true } as const;
  const one = await encoder("one", { ask: [running(0.5), { state: "failed", error }] });
  const two = await encoder("two");
  expect(await client([one, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(one, two)).toEqual([1, 1]);
});

test("a stale answer that comes twice takes nothing back", async () => {
  const one = await encoder("one", { ask: [running(0.6), running(0.3), running(0.6), DONE, DONE] });
  const shares: number[] = [];
  const onProgress = (share: number) => shares.push(share);
  expect(await client([one]).encode(job({ onProgress }))).toEqual(WRITTEN);
  // The same job again, as after a restart: the encoder has it done.
  const again = await encoder("again", { start: [DONE] });
  expect(await client([again]).encode(job())).toEqual(WRITTEN);
  expect(shares).toEqual([0, 0.6, 0.6, 0.6]);
});

test.for([
  ["the plan", "request_invalid", 400],
  ["its length", "payload_too_large", 413],
] as const)("a job at which an encoder finds fault, with %s, fails at once", async ([what, kind, status]) => {
  const text = JSON.stringify({ kind, message: `${what} is wrong.`, param: "plan" });
  const [one, two] = [await encoder("one", { start: [{ status, text }] }), await encoder("two")];
  await expect(client([one, two]).encode(job())).rejects.toMatchObject({
    ...{ name: "MediaError", kind: "encode_failed", retryable: false },
    message: `The native encoder one does not take the job: ${what} is wrong.`,
  });
  expect(posts(one, two)).toEqual([1, 0]);
});
