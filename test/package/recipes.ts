import { globSync, readFileSync } from "node:fs";
import { copyFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "vitest";
import { createRemoteClient } from "../../src/client/index.ts";
import { EVENT } from "../../worker/api/webhooks.ts";
import { clip } from "../fixtures/clips.ts";
import { heicOf } from "../fixtures/heic.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { movingWebp } from "../fixtures/moving-webp.ts";
import { QUARTERS } from "../fixtures/svg.ts";
import { readCues } from "../judge/cues.ts";
import { readFacts } from "../judge/facts.ts";
import { readPicture } from "../judge/picture.ts";
import { openRig } from "../judge/rig.ts";
import { crowdedVideo } from "../judge/tags.ts";
import { ROOT } from "../structure/source-files.ts";
import { type Expected, PAGE_RECIPES, type Stream } from "./page-recipes.ts";
import { addFiles, codeBelow, codeIn, runIn, serveFolder } from "./rig.ts";

/** State that the recipe tests share with those of the package. */
export interface RecipeRig {
  project: string;
  folder: string;
  importMap: string;
  open(url: string): Promise<Page>;
  complaints(): readonly string[];
}

const PAGE = "docs/recipes/page.md";
const SERVICE = "docs/recipes/service.md";

const STAGE = `const folder = await navigator.storage.getDirectory();
const handle = await folder.getFileHandle("saved.mp4", { create: true });
const fileOf = async (name, type) => new File([await (await fetch("./" + name)).blob()], name, { type });
const file = await fileOf("clip.mp4", "video/mp4");
const photo = await fileOf("photo.heic", "image/heic");
const icon = await fileOf("icon.svg", "image/svg+xml");
const sticker = await fileOf("sticker.webp", "image/webp");
const button = document.createElement("button");
globalThis.inputs = { file, photo, icon, sticker, files: [file, file], button, handle };
const encode = (blob) => new Promise((resolve) => {
  const reader = new FileReader();
  reader.onload = () => resolve({ base64: reader.result.replace(/^.*,/, "") });
  reader.readAsDataURL(blob);
});
globalThis.cook = async (name) => {
  const { result } = await import("./" + name);
  return result instanceof Blob ? encode(result) : { value: result };
};
`;

/** Adds tests that compile every TypeScript block in the documents, and run every recipe. */
export function testRecipes(rig: () => RecipeRig): void {
  test("every TypeScript block in the documents compiles against the package", async () => {
    const { project } = rig();
    const files = Object.fromEntries(
      ["README.md", ...globSync("docs/*.md", { cwd: ROOT }), PAGE, SERVICE].flatMap((path) =>
        modulesOf(path).map((code, index) => [`docs/${path.replaceAll(/\W/g, "-")}-${index}.ts`, code]),
      ),
    );
    expect(Object.keys(files).length).toBeGreaterThan(35);
    await addFiles(project, files);
    const flags =
      "--ignoreConfig --strict --noEmit --target esnext --module esnext --moduleResolution bundler";
    const libs = ["--lib", "esnext,dom,dom.iterable,dom.asynciterable", "--skipLibCheck"];
    const node = ["--types", "node", "--typeRoots", join(ROOT, "node_modules/@types")];
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    await runIn(project, tsc, [...flags.split(" "), ...libs, ...node, ...Object.keys(files)]);
  });

  test("every page recipe runs in a page and has the documented result", { timeout: 600_000 }, async () => {
    const { project, folder, importMap, open, complaints } = rig();
    expect(headingsOf(PAGE)).toEqual(Object.keys(PAGE_RECIPES));
    const modules = Object.entries(PAGE_RECIPES).map(([heading, { leaves }], index) => {
      const { imports, rest } = split(codeBelow(PAGE, heading, "ts")[0] ?? "");
      const inputs = "const { file, photo, icon, sticker, files, button, handle } = globalThis.inputs;\n";
      const code = rest.replaceAll(" as const", "");
      const end = `await client.close();\nexport const result = ${leaves};\n`;
      return [`recipe-${index}.js`, imports + inputs + code + end] as const;
    });
    await addFiles(project, {
      ...Object.fromEntries(modules),
      "recipes.html": `<!doctype html><link rel="icon" href="data:,">${importMap}<script type="module">${STAGE}</script>`,
    });
    await copyFile(await clip("mp4", { size: "320x180" }), join(project, "clip.mp4"));
    await copyFile(await phonePhoto(), join(project, "photo.heic"));
    await copyFile(await movingWebp(), join(project, "sticker.webp"));
    await writeFile(join(project, "icon.svg"), QUARTERS);
    const server = await serveFolder(project);
    const page = await open(`${server.url}recipes.html`);
    await page.waitForFunction(() => "cook" in globalThis);
    for (const [index, [heading, expected]] of Object.entries(PAGE_RECIPES).entries()) {
      const result = await page.evaluate(
        (name) => (globalThis as unknown as { cook(name: string): Promise<Cooked> }).cook(name),
        `recipe-${index}.js`,
      );
      await judgeRecipe(heading, result, expected, folder);
    }
    expect(complaints()).toEqual([]);
    await page.context().close();
    server.close();
  });

  test("every service recipe runs in Node and has the documented result", { timeout: 600_000 }, async () => {
    const { project } = rig();
    const [server, service] = await Promise.all([serveFolder(project), openRig()]);
    await copyFile(await clip("mp4"), join(project, "clip.mp4"));
    await copyFile(await clip("mp4"), join(project, "holiday.mp4"));
    await copyFile(await crowdedVideo("mp4"), join(project, "lecture.mp4"));
    await copyFile(await phonePhoto(), join(project, "photo.heic"));
    await copyFile(await clip("mp3"), join(project, "episode.mp3"));
    await writeFile(join(project, "holiday.srt"), "1\n00:00:00,500 --> 00:00:01,500\nGuten Tag\n");
    const client = createRemoteClient({ baseUrl: service.url, apiKey: service.key });
    try {
      const missing = await client.tasks.create({ input: `${server.url}none.mp4`, kind: "audio" });
      await client.tasks.wait(missing);
      const cook = async (heading: string, before = "", after = "") => {
        const { imports, rest } = split(codeBelow(SERVICE, heading, "ts")[0] ?? "");
        const real = rest
          .replace("https://media.example.com", service.url)
          .replace("your-key", service.key)
          .replace("https://example.com/holiday.mov", `${server.url}clip.mp4`)
          .replace("https://example.com/lecture.mov", `${server.url}lecture.mp4`)
          .replace("https://example.com/photo.heic", `${server.url}photo.heic`)
          .replace("https://example.com/holiday.srt", `${server.url}holiday.srt`)
          .replace("https://example.com/episode.mp3", `${server.url}episode.mp3`);
        await addFiles(project, { "recipe.ts": `${imports}${before}${real}${after}` });
        return (await runIn(project, process.execPath, ["recipe.ts"])).trim().split("\n");
      };
      const wordsOf = async (heading: string) => (await cook(heading)).join(" ").split(" ");
      const streamsOf = async (name: string) => streamsIn(await runFfprobe(join(project, name)));
      const recipes: Readonly<Record<string, () => Promise<void>>> = {
        "Convert a URL and save the file": async () => {
          await cook("Convert a URL and save the file");
          expect(await streamsOf("holiday.mp3")).toEqual([["mp3"]]);
        },
        "Upload a local file": async () => {
          expect((await cook("Upload a local file")).at(-1)).toBe("1");
          expect(await streamsOf("holiday.png")).toEqual([["png", 160, 90]]);
        },
        "Build a workflow of steps": async () =>
          expect(await cook("Build a workflow of steps")).toEqual(["succeeded webp 160"]),
        "Show a picture in the size that a page needs": async () =>
          expect(await cook("Show a picture in the size that a page needs")).toEqual(["200 image/webp"]),
        "Convert a photo of an iPhone": async () =>
          expect(await cook("Convert a photo of an iPhone")).toEqual(["jpeg 80 45"]),
        "Keep a video below a number of bytes": async () => {
          const [printed] = await cook("Keep a video below a number of bytes");
          const { size } = await stat(join(project, "small.mp4"));
          expect([printed, size < 50_000, size > 40_000]).toEqual([String(size), true, true]);
          expect(await streamsOf("small.mp4")).toEqual([["h264", 160, 90], ["aac"]]);
        },
        "Make an animated AVIF of a scene": async () =>
          expect(await cook("Make an animated AVIF of a scene")).toEqual(["avif 80 native"]),
        "Make tiles for the seek bar of a player": async () =>
          expect(await cook("Make tiles for the seek bar of a player")).toEqual(["2"]),
        "Draw a waveform": async () => expect(await cook("Draw a waveform")).toEqual(["true true"]),
        "Encrypt a stream": async () => {
          const shown = { encryption: { method: "aes-128", key_url: "https://example.com/keys/7" } };
          expect(await cook("Encrypt a stream")).toEqual([`succeeded ${JSON.stringify(shown)}`]);
        },
        "Stream every language, with pictures to seek by": async () =>
          expect(await cook("Stream every language, with pictures to seek by")).toEqual(["en, fr true"]),
        "Add subtitles to a stream": async () => {
          const [url = "", ...shown] = await wordsOf("Add subtitles to a stream");
          expect(shown).toEqual(["Deutsch", "de"]);
          expect(await readCues(new URL("subtitles/playlist.m3u8", url).href, 0)).toEqual([
            "0.500 1.500 Guten Tag",
          ]);
        },
        "Stream a podcast": async () => {
          const [url = "", ...codecs] = await wordsOf("Stream a podcast");
          expect(codecs).toEqual(["mp4a.40.2"]);
          const report = (await runFfprobe(url)) as { format: { duration: string } };
          expect(streamsIn(report)).toEqual([["aac"]]);
          expect(Number(report.format.duration)).toBeCloseTo(2, 1);
        },
        "Take the sound of one language out of a video": async () =>
          expect(await cook("Take the sound of one language out of a video")).toEqual(["mp3 1"]),
        "Keep the chapters of a video": async () =>
          expect(await cook("Keep the chapters of a video")).toEqual(["0 s: Dawn, 0.5 s: Zwölf Uhr"]),
        "Take several pictures out of a video": async () =>
          expect(await cook("Take several pictures out of a video")).toEqual([
            "0 s: image/jpeg, 1 s: image/jpeg",
          ]),
        "Make several outputs of one file over plain HTTP": async () =>
          expect(await cook("Make several outputs of one file over plain HTTP")).toEqual([
            "small video/mp4",
            "poster image/jpeg",
            "sound audio/mpeg",
          ]),
        "Retry failed tasks": async () =>
          expect(await cook("Retry failed tasks")).toEqual(["input_not_found queued"]),
        "Receive webhooks": async () => {
          const secret = `whsec_${Buffer.from("a secret of twenty-four.").toString("base64")}`;
          const before = `const secret = "${secret}";\nconst port = 0;\nconst body = ${JSON.stringify(JSON.stringify(EVENT))};\n`;
          const printed = await cook("Receive webhooks", before, POST_EVENTS);
          expect(printed).toEqual([`${EVENT.kind} ${EVENT.data.id}`, "204 204 403"]);
        },
      };
      expect(headingsOf(SERVICE)).toEqual(Object.keys(recipes));
      for (const run of Object.values(recipes)) await run();
    } finally {
      await client.close();
      await service.close();
      server.close();
    }
  });
}

// Posts the same event twice, then one without a signature.
const POST_EVENTS = `import { once } from "node:events";
import { Webhook } from "standardwebhooks";
if (!server.listening) await once(server, "listening");
const at = new Date();
const signed = {
  "webhook-id": "evt_1",
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": new Webhook(secret).sign("evt_1", at, body),
};
const statuses = [];
for (const headers of [signed, signed, {}])
  statuses.push((await fetch(\`http://127.0.0.1:\${server.address().port}\`, { method: "POST", headers, body })).status);
console.log(statuses.join(" "));
server.close();
server.closeAllConnections();
`;

async function phonePhoto(): Promise<string> {
  return heicOf(await clip("png"), { tile: { width: 80, height: 90 }, width: 160, height: 90 });
}

interface Cooked {
  base64?: string;
  value?: unknown;
}

async function judgeRecipe(heading: string, output: Cooked, expected: Expected, folder: string) {
  if (!expected.streams) return expect([heading, output.value]).toEqual([heading, expected.value]);
  const bytes = Buffer.from(output.base64 ?? "", "base64");
  const path = join(folder, "cooked");
  await writeFile(path, bytes);
  const report = await runFfprobe(path);
  expect([heading, ...streamsIn(report)]).toEqual([heading, ...expected.streams]);
  const { format } = report as { format: { duration?: string } };
  if (expected.seconds) expect(Number(format.duration)).toBeCloseTo(expected.seconds, 1);
  if (expected.rate) expect(report).toMatchObject({ streams: [{ sample_rate: String(expected.rate) }] });
  if (expected.bytes) expect(bytes.length).toBeLessThan(expected.bytes);
  if (expected.times) expect((await readFacts(path)).picture?.times).toEqual(expected.times);
  const picture = expected.colors && (await readPicture(path));
  for (const [x, y, color] of expected.colors ?? []) expect(picture?.at(x, y)).toEqual(color);
}

function streamsIn(report: unknown): Stream[] {
  const { streams } = report as { streams: { codec_name: string; width?: number; height?: number }[] };
  return streams.map(({ codec_name, width, height }) =>
    width && height ? [codec_name, width, height] : [codec_name],
  );
}

function headingsOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  return [...text.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) => heading);
}

// Each block becomes a module. Comments above it declare the names that it uses: <!-- given: file: File -->
function modulesOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  const variables = new Map<string, string>();
  return text.split(/(?=^```ts\n)/m).flatMap((part) => {
    const [code] = codeIn(part, "ts");
    const { imports, rest } = split(code ?? "");
    const names = [...variables].map(([name, type]) => `declare const ${name}: ${type};\n`).join("");
    for (const [, list = ""] of part.matchAll(/<!-- given: (.+?) -->/g)) {
      for (const [, name = "", type = ""] of list.matchAll(/(\w+): ([^;]+)/g)) variables.set(name, type);
    }
    return code === undefined ? [] : [`${imports}${names}{\n${rest}}\nexport {};\n`];
  });
}

function split(code: string): { imports: string; rest: string } {
  const statement = /^import [^;]*;\n/gm;
  return { imports: (code.match(statement) ?? []).join(""), rest: code.replace(statement, "") };
}
