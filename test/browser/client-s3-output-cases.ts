import { expect, test } from "vitest";
import { ceph, object, proxy, rig } from "./client-s3-lab.ts";

const SECRETS = ["TESTACCESSKEY", "test/secret+key="];

test("uploads a task's output, keeps it locally too, and stores no key", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client } = kit;
    const input = await kit.file("/files/clip.mp4");
    const output = "s3://pages/films/my clip+é.mp4";
    const task = await client.tasks.create({ input, kind: "video", options: { width: 80 }, output });
    const done = await client.tasks.wait(task);
    if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
    const stored: unknown[] = [];
    for (const { name = "" } of await indexedDB.databases()) {
      const db = await new Promise<IDBDatabase>((resolve) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
      });
      for (const store of db.objectStoreNames) {
        const all = db.transaction(store).objectStore(store).getAll();
        stored.push(await new Promise((resolve) => (all.onsuccess = () => resolve(all.result))));
      }
      db.close();
    }
    const bytes = await kit.base64(await (await client.output(done)).blob());
    return { task, done, bytes, stored: JSON.stringify(stored) };
  });
  const { status, mime, bytes } = await object("films/my clip+é.mp4");
  expect([status, mime, bytes.toString("base64") === seen.bytes]).toEqual([200, "video/mp4", true]);
  expect([seen.task.output, seen.done.output]).toEqual(Array(2).fill("s3://pages/films/my clip+é.mp4"));
  expect(seen.done.steps.at(-1)).toMatchObject({
    progress: 100,
    output: {
      url: "s3://pages/films/my clip+é.mp4",
      filesize: bytes.length,
      width: 80,
      etag: expect.any(String),
    },
  });
  expect(seen.stored).toContain(seen.task.id);
  for (const secret of SECRETS) expect(seen.stored).not.toContain(secret);
});

test("uploads adaptive video with the master playlist last, and reads an input object in ranges", async () => {
  await ceph.ask("pages", {
    method: "PUT",
    key: "in/film é.mp4",
    body: new Blob([await object("films/my clip+é.mp4").then(({ bytes }) => new Uint8Array(bytes))]),
  });
  proxy.fail(null);
  const done = await rig.lab.page.evaluate(async () => {
    const [input, output] = ["s3://pages/in/film é.mp4", "s3://pages/hls/all.m3u8"];
    const task = await kit.client.tasks.create({ input, kind: "adaptive_video", output });
    const done = await kit.client.tasks.wait(task);
    const local = await kit.client.output(done).catch(() => null);
    return { done, url: await local?.url(), names: local?.files.map(({ name }) => name) ?? [] };
  });
  expect(done.done.error).toBe(null);
  const ranges = proxy.log.filter(({ method, path }) => method === "GET" && path.includes("/in/"));
  expect(ranges.length).toBeGreaterThan(0);
  expect(ranges.every(({ headers }) => headers.range?.startsWith("bytes="))).toBe(true);
  const put = proxy.log
    .filter(({ method }) => method === "PUT")
    .map(({ path }) => path.slice("/pages/hls/".length));
  expect(put.at(-1)).toBe("all.m3u8");
  expect(put.length).toBe(done.names.length);
  const master = (await object("hls/all.m3u8")).bytes.toString();
  const playlists = master.split("\n").filter((line) => line && !line.startsWith("#"));
  expect(playlists.length).toBeGreaterThan(0);
  for (const name of playlists) expect((await object(`hls/${name}`)).mime).toMatch(/mpegurl/i);
  const renditions = done.done.steps.at(-1)?.output?.renditions ?? [];
  expect(renditions.map(({ url }) => url)).toEqual(playlists.map((name) => `s3://pages/hls/${name}`));
  expect(done.url).toMatch(/^blob:/);
});
