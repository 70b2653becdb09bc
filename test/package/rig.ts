import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { answerFile, listenHere } from "../browser/serve-files.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { ROOT } from "../structure/source-files.ts";

const run = promisify(execFile);

// This variable, which npm sets for its scripts, would make another npm work in the repository's folder.
const { npm_config_local_prefix: _, ...INHERITED } = process.env;
/** Environment of commands: the same Node as this one, and no telemetry. */
export const ENV = {
  ...INHERITED,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  NEXT_TELEMETRY_DISABLED: "1",
};
const LIMITS = { env: ENV, maxBuffer: 1 << 26, timeout: 300_000 } as const;

/** Packs the repository as for a release; returns the path of the tarball in the folder. */
export async function pack(folder: string): Promise<string> {
  await run("npm", ["pack", "--pack-destination", folder], { ...LIMITS, cwd: ROOT });
  const [name = ""] = globSync("*.tgz", { cwd: folder });
  return join(folder, name);
}

/** Creates a project with only these files and installs the tarball in it; `settings` are added to its package.json. */
export async function install(
  folder: string,
  tarball: string,
  files: Record<string, string>,
  settings: object = {},
): Promise<void> {
  const framewright = `file:${tarball}`;
  const project = {
    name: "project",
    private: true,
    type: "module",
    dependencies: { framewright },
    ...settings,
  };
  const lock = JSON.stringify(lockFor(framewright));
  await addFiles(folder, { ...files, "package.json": JSON.stringify(project), "package-lock.json": lock });
  const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...quiet], { ...LIMITS, cwd: folder });
}

// The repository's own versions, which are in npm's cache: so no request to a registry is needed.
function lockFor(framewright: string) {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const locked = Object.entries<{ dev?: true; devOptional?: true }>(lock.packages);
  const needed = locked.filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional);
  const { version, dependencies } = lock.packages[""];
  const packages = {
    "": { name: "project", dependencies: { framewright } },
    "node_modules/framewright": { version, resolved: framewright, dependencies },
    ...Object.fromEntries(needed),
  };
  return { name: "project", lockfileVersion: 3, requires: true, packages };
}

/** Writes files below a folder, by relative path. */
export async function addFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** Runs a command in a folder and returns its stdout; rejects with its output when it fails. */
export async function runIn(folder: string, command: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(command, args, { ...LIMITS, cwd: folder })).stdout;
  } catch (thrown) {
    const { stdout = "", stderr = "" } = thrown as { stdout?: string; stderr?: string };
    throw new Error(`${command} failed:\n${stdout}\n${stderr}`, { cause: thrown });
  }
}

/** Serves a folder on a free port. */
export async function serveFolder(folder: string) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const path = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    void answerFile(folder, path, request, response);
  });
  return listenHere(server);
}

/** Returns the code blocks of a language below a heading of a document. */
export function codeBelow(path: string, heading: string, language: string): string[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  const section = text.split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return codeIn(section, language);
}

/** Returns the code blocks of a language in Markdown. */
export function codeIn(text: string, language: string): string[] {
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))];
  return blocks.map(([, code = ""]) => code);
}

/** The part of an ffprobe report that tests read. */
export interface Probed {
  streams: { codec_type: string; codec_name: string; width?: number; nb_frames?: string }[];
}

/** Waits until a page has set `globalThis.result` to a Blob, and returns native ffprobe's report on it. */
export async function judge(page: Page, folder: string): Promise<Probed> {
  await page.waitForFunction(() => "result" in globalThis);
  const base64 = await page.evaluate(async () => {
    const reader = new FileReader();
    reader.readAsDataURL((globalThis as unknown as { result: Blob }).result);
    await new Promise((resolve) => reader.addEventListener("load", resolve));
    return String(reader.result).replace(/^.*,/, "");
  });
  const path = join(folder, "judged.mp4");
  await writeFile(path, Buffer.from(base64, "base64"));
  return (await runFfprobe(path)) as Probed;
}
