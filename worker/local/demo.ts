import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Source } from "../../src/media/source.ts";
import type { Task } from "../../src/runs/task.ts";
import { createApi } from "./api.ts";
import { runMain, stopSignal } from "./cli.ts";
import { DEMO_USAGE, type DemoWish, parseDemoArgs } from "./demo-args.ts";
import { download, downloadStream } from "./download.ts";
import { errors } from "./errors.ts";
import { serveFile } from "./file-server.ts";
import { createProgress } from "./progress.ts";
import { describeTask } from "./report.ts";
import { type Service, startService } from "./service.ts";
import { parseSettings } from "./settings.ts";
import { requireTools } from "./system.ts";

// npm run demo: converts one file into another by a task on a temporary service.
runMain(async () => {
  const wish = parseDemoArgs(process.argv.slice(2));
  if (!wish) {
    console.log(DEMO_USAGE);
    return;
  }
  const signal = stopSignal();
  const folder = await mkdtemp(join(tmpdir(), "framewright-demo-"));
  try {
    await runDemo(wish, folder, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    console.log("cancelled");
    process.exitCode = 130;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function runDemo(wish: DemoWish, folder: string, signal: AbortSignal): Promise<void> {
  // npm runs scripts in the package's folder, but paths are relative to the user's.
  const here = process.env.INIT_CWD ?? process.cwd();
  const { input: given, kind, options } = wish;
  const remote = given !== null && /^[a-z0-9]+:\/\//i.test(given);
  const file = remote ? null : await serveFile(given ? resolve(here, given) : await makeSample(folder));
  const key = randomBytes(24).toString("base64url");
  const settings = parseSettings({
    ...process.env,
    PORT: "0",
    API_KEYS: key,
    // The demo polls five times a second.
    MAX_REQUESTS: "6000",
    STATE_DIR: join(folder, "state"),
  });
  const progress = createProgress();
  let service: Service | undefined;
  try {
    console.log(`starting the service for ${given ?? "a sample clip"} …`);
    service = await startService({ ...settings, signal });
    const api = createApi(service.url, key);
    const created = await api.create({ input: file?.url ?? given ?? "", kind, options });
    const task = await api.finish(created.id, progress.show, signal);
    progress.end();
    if (task.error) throw errors.taskFailed(task.error);
    signal.throwIfAborted();
    for (const line of await save(task, here, wish.out)) console.log(line);
  } finally {
    progress.end();
    await service?.stop();
    file?.close();
  }
}

async function save(task: Task, here: string, out: string | null): Promise<string[]> {
  const output = task.steps.at(-1)?.output;
  if (!output) throw errors.outputMissing();
  const own = `demo-output${extensionOf(output)}`;
  const given = resolve(here, out ?? own);
  const inFolder = (await stat(given).catch(() => null))?.isDirectory() && !isFolder(output);
  const path = inFolder ? join(given, own) : given;
  if (!isFolder(output)) return describeTask(task, path, 1, await download(output.url, path));
  const { files, bytes } = output.files
    ? await downloadFiles(output.files, path)
    : await downloadStream(output.url, path, output.format);
  return describeTask(task, path, files, bytes);
}

async function downloadFiles(files: NonNullable<Source["files"]>, folder: string) {
  let bytes = 0;
  for (const { url } of files) bytes += await download(url, join(folder, basename(new URL(url).pathname)));
  return { files: files.length, bytes };
}

function isFolder({ kind, files }: Source): boolean {
  return kind === "adaptive_video" || files !== undefined;
}

// A folder of files has no extension.
function extensionOf(output: Source): string {
  if (isFolder(output)) return "";
  return extname(new URL(output.url).pathname);
}

/**
 * Makes a sample clip with native ffmpeg, ten seconds of a moving test picture and a tone (H.264 and AAC in MP4); returns its
 * path.
 */
async function makeSample(folder: string): Promise<string> {
  requireTools(["ffmpeg"]);
  const path = join(folder, "sample.mp4");
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30:duration=10"];
  const sound = ["-f", "lavfi", "-i", "sine=frequency=440:beep_factor=4:sample_rate=48000:duration=10"];
  const video = ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-g", "60"];
  const args = [...picture, ...sound, ...video, "-c:a", "aac", "-b:a", "128k", "-shortest", path];
  await promisify(execFile)("ffmpeg", ["-v", "error", "-nostdin", "-y", ...args]);
  return path;
}
