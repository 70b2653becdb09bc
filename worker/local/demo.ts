import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { MediaError } from "../../src/media/errors.ts";
import type { Source } from "../../src/media/source.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { runMain, stopSignal } from "./cli.ts";
import { download, downloadStream, serveFile } from "./demo-files.ts";
import { createProgress, DEMO_USAGE, type DemoArgs, describeTask, parseDemoArgs } from "./demo-terminal.ts";
import * as errors from "./errors.ts";
import { type Service, startService } from "./service.ts";
import { parseSettings } from "./settings.ts";
import { requireTools } from "./system.ts";

/** The body of a request for a task; the service validates it. */
export interface TaskBody {
  input: string;
  kind: string;
  options: Record<string, unknown>;
}

/** The API calls that the demo makes. */
export interface Api {
  /** Creates a task; rejects with the service's {@link MediaError}. */
  create(body: TaskBody): Promise<Task>;
  cancel(id: string): Promise<Task>;
  /** Resolves to the finished task and reports its progress; an abort cancels it. */
  finish(id: string, report: (task: Task) => void, signal: AbortSignal): Promise<Task>;
}

const POLL_MS = 200;
const PATIENCE_MS = 30_000;

function createApi(url: string, key: string): Api {
  async function call(method: string, path: string, body?: unknown): Promise<Task> {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url + path, {
      method,
      headers,
      signal,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new MediaError(answer.kind, answer.message, { param: answer.param });
    return answer;
  }
  return {
    create: (body) => call("POST", "/tasks", body),
    cancel: (id) => call("POST", `/tasks/${id}/cancel`),
    async finish(id, report, signal) {
      let lastEvent = Date.now();
      for (let cancelled = false; ; await sleep(POLL_MS)) {
        try {
          if (signal.aborted && !cancelled) {
            await call("POST", `/tasks/${id}/cancel`);
            cancelled = true;
          }
          const task = await call("GET", `/tasks/${id}`);
          lastEvent = Date.now();
          report(task);
          if (isFinished(task)) return task;
        } catch (thrown) {
          if (Date.now() - lastEvent > PATIENCE_MS) throw thrown;
        }
      }
    },
  };
}

runMain(async () => {
  const args = parseDemoArgs(process.argv.slice(2));
  if (!args) {
    console.log(DEMO_USAGE);
    return;
  }
  const signal = stopSignal();
  const folder = await mkdtemp(join(tmpdir(), "framewright-demo-"));
  try {
    await runDemo(args, folder, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    console.log("cancelled");
    process.exitCode = 130;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function runDemo(args: DemoArgs, folder: string, signal: AbortSignal): Promise<void> {
  // npm runs scripts in the package's folder, but paths are relative to the user's.
  const here = process.env.INIT_CWD ?? process.cwd();
  const { input, kind, options } = args;
  const remote = input !== null && /^[a-z0-9]+:\/\//i.test(input);
  const file = remote ? null : await serveFile(input ? resolve(here, input) : await makeSample(folder));
  const key = randomBytes(24).toString("base64url");
  const settings = parseSettings({
    ...process.env,
    PORT: "0",
    API_KEYS: key,
    MAX_REQUESTS: "6000",
    STATE_DIR: join(folder, "state"),
  });
  const progress = createProgress();
  let service: Service | undefined;
  try {
    console.log(`starting the service for ${input ?? "a sample clip"} …`);
    service = await startService({ ...settings, signal });
    const api = createApi(service.url, key);
    const created = await api.create({ input: file?.url ?? input ?? "", kind, options });
    const task = await api.finish(created.id, progress.show, signal);
    progress.end();
    if (task.error) throw errors.taskFailed(task.error);
    signal.throwIfAborted();
    for (const line of await save(task, here, args.out)) console.log(line);
  } finally {
    progress.end();
    await service?.stop();
    file?.close();
  }
}

async function save(task: Task, here: string, out: string | null): Promise<string[]> {
  const output = task.steps.at(-1)?.output;
  if (!output) throw errors.outputMissing();
  const name = `demo-output${extensionOf(output)}`;
  const target = resolve(here, out ?? name);
  const inFolder = (await stat(target).catch(() => null))?.isDirectory() && !isFolder(output);
  const path = inFolder ? join(target, name) : target;
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

function extensionOf(output: Source): string {
  if (isFolder(output)) return "";
  return extname(new URL(output.url).pathname);
}

/** Creates a sample clip with native ffmpeg, ten seconds of a test pattern and a tone (H.264 and AAC in MP4), and returns its path. */
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
