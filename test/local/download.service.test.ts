import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { download, downloadStream } from "../../worker/local/demo-files.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";

let folder: string;
let origin: Origin;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-download-"));
  origin = await startOrigin();
  onTestFinished(async () => {
    await origin.close();
    await rm(folder, { recursive: true, force: true });
  });
});

const bytes = (text: string) => new TextEncoder().encode(text);

test("writes the whole file, over an older one", async () => {
  const path = join(folder, "new", "a.bin");
  const url = origin.serve("/a.bin", { file: bytes("new") });
  expect(await download(url, path)).toBe(3);
  await writeFile(path, "older and longer");
  expect(await download(url, path)).toBe(3);
  expect(await readFile(path, "utf8")).toBe("new");
});

test("a failed download keeps the older file, and no part of the new one", async () => {
  const path = join(folder, "a.bin");
  await writeFile(path, "older");
  const url = origin.serve("/a.bin", { file: new Uint8Array(1e6), cut_after: 1000 });
  await expect(download(url, path)).rejects.toThrow();
  await expect(download(origin.serve("/b", { status: 500 }), path)).rejects.toThrow("HTTP 500");
  expect(await readdir(folder)).toEqual(["a.bin"]);
  expect(await readFile(path, "utf8")).toBe("older");
});

test("downloads a stream with all its playlists and segments, and nothing outside its folder", async () => {
  const serve = (path: string, text: string) => origin.serve(`/media/x${path}`, { file: bytes(text) });
  serve("/240p/init.mp4", "init");
  serve("/240p/seg_1.m4s", "one");
  serve("/audio/seg_1.m4s", "sound");
  origin.serve("/secret.txt", { file: bytes("secret") });
  serve("/240p/index.m3u8", '#EXTM3U\n#EXT-X-MAP:URI="init.mp4"\n#EXTINF:2,\nseg_1.m4s\n#EXT-X-ENDLIST');
  serve("/audio/index.m3u8", "#EXTM3U\r\n#EXTINF:2,\r\nseg_1.m4s\r\n../../../secret.txt\r\nseg_1.m4s\r\n");
  const master = serve(
    "/master.m3u8",
    '#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="audio/index.m3u8"\n#EXT-X-STREAM-INF:BANDWIDTH=1\n240p/index.m3u8\n',
  );
  const result = await downloadStream(master, folder, "hls");
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.includes(".")).sort();
  expect(files).toEqual([
    "240p/index.m3u8",
    "240p/init.mp4",
    "240p/seg_1.m4s",
    "audio/index.m3u8",
    "audio/seg_1.m4s",
    "master.m3u8",
  ]);
  const sizes = await Promise.all(files.map(async (name) => (await readFile(join(folder, name))).length));
  expect(result).toEqual({ files: 6, bytes: sizes.reduce((a, b) => a + b) });
});
