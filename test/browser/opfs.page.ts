import assert from "node:assert/strict";
import { createOpfsStorage } from "../../src/storage/opfs.ts";
import { readAll } from "../../src/storage/storage.ts";
import { STORAGE_CONTRACT } from "../storage/contract.ts";
import { type Cases, casesOf } from "./cases.ts";

const MB = 1024 * 1024;
const fresh = () => createOpfsStorage(`framewright-${crypto.randomUUID()}`);
const text = async (stored: { body: ReadableStream<Uint8Array> } | null) =>
  stored && new TextDecoder().decode(await readAll(stored.body));
const bytes = (content: string) => new TextEncoder().encode(content);
const unfinished = async (name: string) => {
  const origin = await navigator.storage.getDirectory();
  return (await origin.getDirectoryHandle(name)).getDirectoryHandle("unfinished");
};
const count = async (folder: FileSystemDirectoryHandle) => {
  let entries = 0;
  for await (const _ of folder.keys()) entries++;
  return entries;
};

/** Storage in OPFS. */
export const CASES: Cases = {
  ...casesOf(STORAGE_CONTRACT, fresh),
  "returns an object as a file that can be read later": async () => {
    const storage = await fresh();
    await storage.write("run/a/Clip ä.mp4", bytes("0123456789"), "video/mp4");
    const file = await storage.file("run/a/Clip ä.mp4");
    assert.ok(file);
    assert.deepEqual([file.name, file.type, file.size], ["Clip ä.mp4", "video/mp4", 10]);
    assert.equal(await file.slice(3, 6).text(), "345");
    assert.equal(await storage.file("run/a"), null);
  },
  "lists objects by prefix, sorted by key": async () => {
    const storage = await fresh();
    const keys = ["out/b/Master.m3u8", "out/b/0/seg_00001.m4s", "out/b", "out/c/x", "outer/b/y"];
    for (const key of keys) await storage.write(key, bytes(key), "text/plain");
    const files = await storage.files("out/b");
    assert.deepEqual(
      await Promise.all(files.map(async ({ key, file }) => [key, file.name, await file.text()])),
      ["out/b", "out/b/0/seg_00001.m4s", "out/b/Master.m3u8"].map((key) => [key, key.split("/").at(-1), key]),
    );
    assert.deepEqual(await storage.files("none/"), []);
    assert.equal((await storage.files("")).length, 5);
  },
  "counts a folder as empty if it is removed while it is read": async () => {
    const name = `framewright-${crypto.randomUUID()}`;
    const storage = await createOpfsStorage(name);
    for (const key of ["a/b/one", "a/two", "c/three"]) await storage.write(key, bytes(key), "text/plain");
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle(name);
    const { entries } = FileSystemDirectoryHandle.prototype;
    FileSystemDirectoryHandle.prototype.entries = async function* (this: FileSystemDirectoryHandle) {
      if (this.name === "+a") await root.removeEntry("+a", { recursive: true });
      yield* entries.call(this);
      return undefined;
    } as typeof entries;
    try {
      assert.deepEqual(
        (await storage.files("")).map(({ key }) => key),
        ["c/three"],
      );
    } finally {
      FileSystemDirectoryHandle.prototype.entries = entries;
    }
  },
  "finds objects of an earlier instance, with the same metadata": async () => {
    const name = `framewright-${crypto.randomUUID()}`;
    const written = await (await createOpfsStorage(name)).write("run/one", bytes("kept"), "a/b+c; d=~e");
    const reopened = await createOpfsStorage(name);
    assert.deepEqual(await reopened.head("run/one"), written);
    assert.equal(await text(await reopened.read("run/one")), "kept");
  },
  "keeps similar keys apart": async () => {
    const storage = await fresh();
    const long = "ü".repeat(300);
    const keys = [
      "a",
      "A",
      "a/",
      "a//b",
      "a/./b",
      "a/../b",
      "a/b",
      "+a",
      "=a",
      "~a",
      "%61",
      "",
      long,
      `${long}/x`,
    ];
    for (const key of keys) await storage.write(key, bytes(`of ${key}`), "text/plain");
    for (const key of keys) assert.equal(await text(await storage.read(key)), `of ${key}`);
    assert.deepEqual((await storage.files("")).map(({ key }) => key).sort(), [...keys].sort());
    await storage.clear("ü".repeat(150));
    assert.equal((await storage.files("")).length, keys.length - 2);
    for (const key of keys) if (key !== "") await storage.clear(key);
    assert.deepEqual(
      (await storage.files("")).map(({ key }) => key),
      [""],
    );
  },
  "keeps exactly one intact object after concurrent writes to a key": async () => {
    const storage = await fresh();
    const bodies = Array.from({ length: 8 }, (_, n) => new Uint8Array(MB + n).fill(n));
    const infos = await Promise.all(bodies.map((body) => storage.write("same", body, "video/mp4")));
    const stored = await storage.read("same");
    assert.ok(stored);
    const body = await readAll(stored.body);
    assert.equal(body.length, stored.size);
    assert.ok(body.every((byte) => byte === body.length - MB));
    assert.ok(infos.some(({ etag }) => etag === stored.etag));
  },
  "leaves only the latest version of an object": async () => {
    const name = `framewright-${crypto.randomUUID()}`;
    const storage = await createOpfsStorage(name);
    for (const body of ["one", "two", "three"]) await storage.write("a", bytes(body), "text/plain");
    const origin = await navigator.storage.getDirectory();
    const root = await origin.getDirectoryHandle(name);
    assert.equal(await count(await root.getDirectoryHandle("=a")), 1);
    assert.equal(await count(await unfinished(name)), 0);
  },
  "never mixes the bytes of two objects in one stream": async () => {
    const storage = await fresh();
    await storage.write("a", new Uint8Array(8 * MB).fill(1), "video/mp4");
    const stored = await storage.read("a");
    assert.ok(stored);
    await storage.write("a", new Uint8Array(8 * MB).fill(2), "video/mp4");
    // A system that deletes replaced files at once fails the stream instead.
    const body = await readAll(stored.body).catch((thrown) => {
      assert.equal(thrown.kind, "internal_error");
      return new Uint8Array(8 * MB).fill(1);
    });
    assert.equal(body.length, 8 * MB);
    assert.ok(body.every((byte) => byte === 1));
  },
  "removes partial writes of a crash, but not writes in progress": async () => {
    const name = `framewright-${crypto.randomUUID()}`;
    const storage = await createOpfsStorage(name);
    const folder = await unfinished(name);
    await folder.getFileHandle("left-by-a-crash", { create: true });
    const slow = new TransformStream<Uint8Array, Uint8Array>();
    const writing = storage.write("slow", slow.readable, "text/plain");
    const writer = slow.writable.getWriter();
    await writer.write(bytes("first"));
    const before = await count(folder);
    assert.ok(before >= 2);
    const reopened = await createOpfsStorage(name);
    while ((await count(folder)) >= before) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(await storage.head("slow"), null);
    await writer.write(bytes(" and last"));
    await writer.close();
    await writing;
    assert.equal(await text(await reopened.read("slow")), "first and last");
    assert.equal(await count(folder), 0);
  },
  "ensureRoom() rejects before a write that cannot fit": async () => {
    const storage = await fresh();
    await storage.ensureRoom(MB);
    const { quota = 0 } = await navigator.storage.estimate();
    assert.ok(quota > 1e9);
    await assert.rejects(storage.ensureRoom(quota * 2), {
      kind: "storage_full",
      retryable: false,
      message: /^This needs \d+\.\d GB of room, and the browser has \d+\.\d GB left for this page; delete/,
    });
  },
};
