import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { LAUNCH } from "../worker/api/browser.ts";
import { type LabServerOptions, startLabServer } from "./lab-server.ts";

export interface LabOptions extends LabServerOptions {
  /** Folder of the browser's profile, kept on close so that a second lab finds what the first one stored; by default temporary. */
  profile?: string;
  /** More command-line arguments for Chromium. */
  args?: readonly string[];
}

/** A real Chromium and a server of the repository's modules, for code that runs in a page. */
export interface Lab {
  /** URL of the blank page, ending with a slash; modules are below it at their path in the repository. */
  readonly url: string;
  readonly context: BrowserContext;
  /** The first tab, on the blank page. */
  readonly page: Page;
  /** Logged and uncaught errors of all pages and workers, and crashes. Empty it after an expected error. */
  readonly complaints: string[];
  /** Opens another tab on the blank page, with the same origin and storage. */
  newPage(): Promise<Page>;
  /** Runs one case of a module such as `/test/browser/opfs.page.ts`, in the page or in a dedicated worker; rejects if the case fails. */
  run(module: string, name: string, where?: "page" | "worker"): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a lab. A function passed to `page.evaluate` may `await import("../../src/…")` with a path relative to the test
 * file as usual: Vitest turns it into a path from the root of the repository.
 */
export async function openLab({ profile, args = [], ...options }: LabOptions = {}): Promise<Lab> {
  const folder = profile ?? (await mkdtemp(join(tmpdir(), "framewright-profile-")));
  const [server, context] = await Promise.all([
    startLabServer(options),
    chromium.launchPersistentContext(folder, { ...LAUNCH, args: [...(LAUNCH.args ?? []), ...args] }),
  ]);
  const complaints: string[] = [];
  const newPage = async () => {
    const page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.stack ?? String(error)));
    page.on("crash", () => complaints.push("the page crashed"));
    await page.goto(server.url);
    return page;
  };
  const page = await newPage();
  return {
    url: server.url,
    context,
    page,
    complaints,
    newPage,
    async run(module, name, where = "page") {
      const wrong = await page.evaluate(where === "page" ? runInPage : runInWorker, { module, name });
      if (wrong) throw new Error(wrong);
    },
    async close() {
      await context.close();
      await server.close();
      if (!profile) await rm(folder, { recursive: true, force: true });
    },
  };
}

interface CaseRef {
  module: string;
  name: string;
}

async function runInPage({ module, name }: CaseRef): Promise<string | null> {
  const { runCase } = await import("./run-case.ts");
  return runCase(module, name);
}

function runInWorker(ref: CaseRef): Promise<string | null> {
  const worker = new Worker("/test/browser/case-worker.ts", { type: "module" });
  return new Promise<string | null>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve(`the worker did not start: ${message}`);
    worker.postMessage(ref);
  }).finally(() => worker.terminate());
}
