import { randomUUID } from "node:crypto";
import { copyFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Page } from "@playwright/test";
import { expect } from "vitest";
import type { LocalClientOptions } from "../../src/browser/local-client.ts";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { buildFonts } from "../../worker/local/build/build-fonts.ts";
import { CLIP_FOLDER, runFfprobe } from "../fixtures/make-clip.ts";
import { type Lab, type LabOptions, openLab } from "./lab.ts";

/** A lab with files for the page, and the core where the client finds it. */
export interface ClientLab {
  readonly lab: Lab;
  /** The folder served at `/files/`. */
  readonly folder: string;
  /** Copies a file to where pages fetch it; returns its path there. */
  serve(path: string, name?: string): Promise<string>;
  /** Writes bytes to where pages fetch them; returns their path there. */
  put(name: string, bytes: Uint8Array): Promise<string>;
  /** Removes a file. */
  take(name: string): Promise<void>;
  /** Probes base64 bytes from a page with native ffprobe. */
  judge(base64: string, name: string): Promise<Probed>;
  close(): Promise<void>;
}

/** The part of an ffprobe report that tests read. */
export interface Probed {
  format: { format_name: string; duration?: string };
  streams: { codec_type: string; codec_name: string; width?: number; height?: number; nb_frames?: string }[];
}

export async function openClientLab(options: LabOptions = {}): Promise<ClientLab> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-local-"));
  // Packed once for all tests.
  const core = join(CLIP_FOLDER, "core");
  const fonts = join(CLIP_FOLDER, "fonts");
  await Promise.all([buildCore(core), buildFonts(fonts)]);
  await symlink(core, join(folder, "core"));
  await symlink(fonts, join(folder, "fonts"));
  const lab = await openLab({ own: {}, files: folder, ...options });
  return {
    lab,
    folder,
    async serve(path, name = basename(path)) {
      // Two tests may share a file, so the copy is renamed when complete, and no page reads half of it.
      const copy = join(folder, `${randomUUID()}.copy`);
      await copyFile(path, copy);
      await rename(copy, join(folder, name));
      return `/files/${name}`;
    },
    async put(name, bytes) {
      await writeFile(join(folder, name), bytes);
      return `/files/${name}`;
    },
    take: (name) => rm(join(folder, name)),
    async judge(base64, name) {
      const at = join(folder, "judged");
      await mkdir(at, { recursive: true });
      await writeFile(join(at, name), Buffer.from(base64, "base64"));
      return (await runFfprobe(join(at, name))) as Probed;
    },
    async close() {
      await lab.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a task on a file in a page that has a kit, writes its output to a path, and returns the encoder that made it. */
export async function encodeInPage(
  page: ClientLab,
  {
    input,
    kind,
    options,
  }: { input: string; kind: "video" | "audio" | "image" | "animation"; options: object },
  output: string,
): Promise<string | undefined> {
  const request = { path: await page.serve(input), kind, options };
  const { base64, encoder } = await page.lab.page.evaluate(async ({ path, ...work }) => {
    const task = { input: await kit.file(path), ...work } as Parameters<typeof kit.client.run>[0];
    const { blob, source } = await kit.client.run(task);
    return { base64: await kit.base64(blob), encoder: source.encoder };
  }, request);
  await writeFile(output, Buffer.from(base64, "base64"));
  return encoder;
}

/** Opens a client in a page as `kit.client`, with the rest of `ClientKit`. */
export async function openKit(page: Page, options: KitOptions): Promise<void> {
  await page.evaluate(async (settings) => {
    const { openClientKit } = await import("./client.page.ts");
    openClientKit(settings);
  }, options);
}

/** Makes the workers of a page run a script before their own, for example one that removes a browser API. */
export async function spoilWorkers(page: Page, script: string): Promise<void> {
  await page.evaluate((spoil) => {
    const Own = globalThis.Worker;
    globalThis.Worker = class extends Own {
      constructor(url: string | URL, options?: WorkerOptions) {
        const first = `data:text/javascript,${encodeURIComponent(spoil)}`;
        const code = `import ${JSON.stringify(first)}; import ${JSON.stringify(String(url))};`;
        super(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), options);
      }
    };
  }, script);
}

interface KitOptions {
  name: string;
  encoderWorkers?: number;
  prefer?: "quality" | "speed";
  keepSeconds?: number;
  workers?: string;
  core?: NonNullable<LocalClientOptions["core"]>;
}

/** Closes the client of a page, and returns once all of its workers are gone. */
export async function closeKit(page: Page): Promise<void> {
  // Chromium (156) leaks the thread of a worker that is ended while it starts.
  await Promise.allSettled(page.workers().map((worker) => worker.evaluate(() => true)));
  await page.evaluate(() => kit.client.close());
  await expect.poll(() => page.workers().length).toBe(0);
}
