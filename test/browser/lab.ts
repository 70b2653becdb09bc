import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { LAUNCH, openBrowser } from "./chromium.ts";
import { type LabServerOptions, startLabServer } from "./lab-server.ts";

export interface LabOptions extends LabServerOptions {
  /**
   * Starts a Chromium for this lab alone, with more command-line arguments. The shared one keeps the files of a page in memory, where
   * OPFS is slower and has faults of its own, gets copies of the files that are chosen, and measures the processes of all files together.
   */
  own?: { args?: readonly string[] } | undefined;
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
export async function openLab({ own, ...options }: LabOptions = {}): Promise<Lab> {
  const [server, { context, end }] = await Promise.all([
    startLabServer(options),
    own ? startContext(own.args ?? []) : openContext(),
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
      await end();
      await server.close();
    },
  };
}

async function openContext() {
  const browser = await openBrowser();
  return { context: await browser.newContext(), end: () => browser.close() };
}

async function startContext(args: readonly string[]) {
  const profile = await mkdtemp(join(tmpdir(), "framewright-profile-"));
  const options = { ...LAUNCH, args: [...(LAUNCH.args ?? []), ...args] };
  const context = await chromium.launchPersistentContext(profile, options);
  return {
    context,
    async end() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
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
