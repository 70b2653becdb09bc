import { copyFile, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBuilt } from "../../core/cache.ts";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { clip } from "../fixtures/clips.ts";
import { PAGE_ENCODER } from "../fixtures/fast-encoder.ts";
import { CLIP_FOLDER } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import type { FirefoxRun } from "./firefox.page.ts";
import { type FirefoxPage, openFirefox } from "./firefox.ts";
import { startLabServer } from "./lab-server.ts";

const PAGE = "/test/browser/firefox.page.ts";

let folder: string;
let server: Awaited<ReturnType<typeof startLabServer>>;
let firefox: FirefoxPage;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-files-"));
  const core = join(CLIP_FOLDER, "core");
  await buildCore(core);
  await symlink(core, join(folder, "core"));
  const built = findBuilt("check");
  if (built) await copyFile(built, join(folder, "check.wasm"));
  [server, firefox] = await Promise.all([startLabServer({ files: folder }), openFirefox()]);
  await firefox.goto(server.url);
});
afterAll(async () => {
  await firefox?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Encodes a file in the page; resolves with the path of the output. */
async function encode(input: string, wish: object, extension: string) {
  await symlink(input, join(folder, `input.${extension}`));
  const call = `run("/files/input.${extension}", ${JSON.stringify(wish)})`;
  const { encoder, base64 } = (await firefox.evaluate(
    `import("${PAGE}").then((page) => page.${call})`,
  )) as FirefoxRun;
  const output = join(folder, `output.${extension}`);
  await writeFile(output, Buffer.from(base64, "base64"));
  return { encoder, output };
}

describe("in Firefox", () => {
  test.skipIf(!findBuilt("check"))("each kernel returns what the scalar function returns", async () => {
    const call = `check("/files/check.wasm")`;
    const { code, output } = (await firefox.evaluate(`import("${PAGE}").then((page) => page.${call})`)) as {
      code: number;
      output: string[];
    };
    expect(output.filter((line) => /differs|unchecked/.test(line))).toEqual([]);
    expect(code).toBe(0);
  });

  test("a page encodes each picture to H.264", async () => {
    const input = await clip("mp4", { seconds: 6 });
    const wish = { kind: "video", options: { width: 80, quality: "high" } };
    const { encoder, output } = await encode(input, wish, "mp4");
    expect(encoder).toBe(PAGE_ENCODER);
    const [source, facts] = [await readFacts(input), await readFacts(output)];
    expect(facts.picture).toMatchObject({ codec: "h264", width: 80 });
    expect(facts.picture?.times).toHaveLength(source.picture?.times.length ?? 0);
    expect((await measureLikeness(output, input, { filter: "scale=80:44" })).mean).toBeGreaterThan(0.9);
  });

  test("a page encodes VP9 in WebM", async () => {
    const input = await clip("mkv", { seconds: 1 });
    const { output } = await encode(input, { kind: "video", options: { width: 80, format: "webm" } }, "webm");
    const [source, facts] = [await readFacts(input), await readFacts(output)];
    expect(facts.picture).toMatchObject({ codec: "vp9", width: 80 });
    expect(facts.picture?.times).toHaveLength(source.picture?.times.length ?? 0);
  });

  test("a page encodes sound", async () => {
    const input = await clip("wav", { seconds: 3 });
    const { encoder, output } = await encode(input, { kind: "audio", options: { format: "mp3" } }, "mp3");
    expect(encoder).toBe(PAGE_ENCODER);
    expect((await readFacts(output)).sound).toMatchObject({ codec: "mp3" });
  });
});
