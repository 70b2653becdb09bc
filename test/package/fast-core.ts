import { existsSync } from "node:fs";
import { copyFile, cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { expect, test } from "vitest";
import { findBuilt } from "../../core/cache.ts";
import { SOURCES } from "../../core/recipe.ts";
import { FAST_CORE_FILES, VP9_CORE_FILES } from "../../src/encoders/wasm/core-facts.ts";
import { clip } from "../fixtures/clips.ts";
import { ROOT } from "../structure/source-files.ts";
import { addFiles, codeBelow, judge, serveFolder } from "./rig.ts";

/** State that the tests of the fast core share with those of the package. */
export interface FastCoreRig {
  project: string;
  folder: string;
  open(url: string): Promise<Page>;
  complaints(): readonly string[];
}

const MAP = { imports: { "@ffmpeg/ffmpeg": "./ffmpeg/index.js", "@ffmpeg/util": "./util/index.js" } };

// After the guide's own lines: every method of `@ffmpeg/ffmpeg` that a core has a part in.
const USE = `
const lines = [];
const progress = [];
ffmpeg.on("log", ({ message }) => lines.push(message));
ffmpeg.on("progress", (state) => progress.push(state));
const clip = await (await fetch("./clip.mp4")).blob();
const facts = {};
await ffmpeg.writeFile("input.mp4", new Uint8Array(await clip.arrayBuffer()));
facts.code = await ffmpeg.exec(["-i", "input.mp4", "-vf", "scale=160:-2", "-c:v", "libx264", "-an", "output.mp4"]);
facts.progress = progress.at(-1);
facts.listed = await ffmpeg.listDir("/");
const output = await ffmpeg.readFile("output.mp4");

facts.unknown = await ffmpeg.exec(["-i", "input.mp4", "-c:v", "libvpx-vp9", "output.webm"]);
facts.words = lines.filter((line) => line.startsWith("Unknown encoder"));
facts.probe = await ffmpeg.ffprobe(["input.mp4"]).catch(String);
facts.late = await ffmpeg.exec(["-stream_loop", "-1", "-i", "input.mp4", "-c:v", "libx264", "late.mp4"], 200);

await ffmpeg.createDir("mounted");
await ffmpeg.mount("WORKERFS", { blobs: [{ name: "clip.mp4", data: clip }] }, "/mounted");
facts.mounted = await ffmpeg.exec(["-i", "/mounted/clip.mp4", "-vn", "-c:a", "libmp3lame", "sound.mp3"]);
await ffmpeg.unmount("/mounted");
facts.unmounted = await ffmpeg.exec(["-i", "/mounted/clip.mp4", "again.mp4"]);
await ffmpeg.deleteDir("mounted");
await ffmpeg.rename("sound.mp3", "renamed.mp3");
facts.sound = (await ffmpeg.readFile("renamed.mp3")).length > 10_000;
await ffmpeg.writeFile("note.txt", "héllo");
facts.text = await ffmpeg.readFile("note.txt", "utf8");
for (const name of ["input.mp4", "output.mp4", "late.mp4", "renamed.mp3", "note.txt"]) await ffmpeg.deleteFile(name);
facts.left = (await ffmpeg.listDir("/")).map(({ name }) => name);
facts.gone = await ffmpeg.readFile("output.mp4").catch(String);
ffmpeg.terminate();
Object.assign(globalThis, { facts, result: new Blob([output]) });
`;

/** Tests that the package ships the fast core, and the guide for those who keep `@ffmpeg/ffmpeg`; `rig` is called when they run. */
export function testFastCore(rig: () => FastCoreRig): void {
  if (!findBuilt("core")) return;

  test("the package ships the fast core with its license, its sources and its recipe", async () => {
    const root = join(rig().project, "node_modules", "framewright");
    const plain = await readFile(join(root, "dist", "core", "framewright-core.wasm"));
    const packed = await readFile(join(root, "dist", "core", "framewright-core.wasm.gz"));
    expect(plain.length).toBe(FAST_CORE_FILES.wasm.size);
    expect(gunzipSync(packed).equals(plain)).toBe(true);
    const vp9 = await readFile(join(root, "dist", "core", "framewright-core-vp9.wasm.gz"));
    expect(gunzipSync(vp9).length).toBe(VP9_CORE_FILES.wasm.size);
    const license = await readFile(join(root, "dist", "core", "COPYING"), "utf8");
    expect(license).toMatch(/GNU GENERAL PUBLIC LICENSE\s+Version 2/);
    const licenses = await readFile(join(root, "dist", "LICENSES.txt"), "utf8");
    for (const { path, version } of Object.values(SOURCES)) {
      expect(licenses).toContain(version);
      expect(licenses).toContain(path);
    }
    for (const name of ["recipe.ts", "compile.sh", "shim.c", "x264/sad.c", "vpx/arm_neon.h"]) {
      expect(existsSync(join(root, "core", name))).toBe(true);
    }
  });

  test("plain @ffmpeg/ffmpeg runs the fast core", async () => {
    const { project, folder, open, complaints } = rig();
    const [guide = ""] = codeBelow("docs/from-ffmpeg-wasm.md", "Keep ffmpeg.wasm, with the fast core", "js");
    const code = guide.replaceAll("/framewright/", "/node_modules/framewright/dist/") + USE;
    const map = `<script type="importmap">${JSON.stringify(MAP)}</script>`;
    const head = `<meta charset="utf-8">${map}<link rel="icon" href="data:,">`;
    await addFiles(project, { "ffmpeg.html": `${head}<script type="module">${code}</script>` });
    await copyFile(await clip("mp4"), join(project, "clip.mp4"));
    for (const name of ["ffmpeg", "util"]) {
      await cp(join(ROOT, "node_modules/@ffmpeg", name, "dist/esm"), join(project, name), {
        recursive: true,
      });
    }
    const server = await serveFolder(project);
    const page = await open(`${server.url}ffmpeg.html`);
    const { streams } = await judge(page, folder);
    expect(streams).toMatchObject([{ codec_name: "h264", width: 160, nb_frames: "50" }]);
    expect(await page.evaluate(() => Reflect.get(globalThis, "facts"))).toEqual({
      code: 0,
      progress: { progress: 1, time: 1_880_000 },
      listed: [
        ...[".", ".."].map((name) => ({ name, isDir: true })),
        ...["input.mp4", "output.mp4"].map((name) => ({ name, isDir: false })),
      ],
      unknown: 1,
      words: ["Unknown encoder 'libvpx-vp9'"],
      probe: "Error: The fast core has no ffprobe.",
      late: 1,
      mounted: 0,
      unmounted: 1,
      sound: true,
      text: "héllo",
      left: [".", ".."],
      gone: "Error: There is no output.mp4, or not all of its folders.",
    });
    expect(complaints()).toEqual([]);
    await page.context().close();
    server.close();
  });
}
