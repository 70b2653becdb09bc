import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSite } from "../../bench/browser/open-page.ts";
import type {} from "../../bench/browser/page/main.ts";
import { makeScratch } from "../../bench/scratch.ts";
import { MediaError } from "../../src/media/errors.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import type { RunError } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { openChunkedHost } from "../integrity/chunked-host.ts";

/** The hosts: a page in Chromium, the light encoder in workerd, and the native encoder as in a container. */
export const HOSTS = ["page", "light", "native"] as const;
export type HostName = (typeof HOSTS)[number];

/** The conversion that a file gets. */
export interface Conversion {
  kind: EncodeKind;
  options: { format: string; width?: number; end?: number };
}

/** A host's result for a file: the path of its output, or its error. */
export type Attempt = { source: Source | null; conversion: Conversion | null } & (
  | { output: string; made: Source; encoder: string }
  | { error: Pick<RunError, "kind" | "message"> }
);

const SECONDS = { video: 3, audio: 10 } as const;
const WIDTH = 128;

/** Returns the conversion for a source: small, short, and lossless where it can be. */
export function conversionFor({ kind, animated, width = 0, duration = 0 }: Source): Conversion {
  const smaller = width > WIDTH ? { width: WIDTH } : {};
  const upTo = (end: number) => (duration > 2 * end ? { end } : {});
  if (kind === "audio") return { kind, options: { format: "flac", ...upTo(SECONDS.audio) } };
  if (kind === "image" && !animated) return { kind, options: { format: "png", ...smaller } };
  const end = upTo(SECONDS.video);
  if (kind === "image") return { kind: "animation", options: { format: "gif", ...smaller, ...end } };
  return { kind: "video", options: { format: "mp4", ...smaller, ...end } };
}

interface Host {
  probe(path: string): Promise<Source>;
  /** Runs a task and writes its output, if it has one, under a name. */
  convert(path: string, conversion: Conversion, name: string): Promise<Task>;
  /** Returns the path of an output. */
  pathOf(name: string): string;
}

async function openPage(ends: AsyncDisposableStack): Promise<Host> {
  const site = await openSite(ends);
  const tab = await site.open();
  await tab.page.evaluate(() => bench.ours.open({ allowPrivate: true }));
  return {
    async probe(path) {
      await tab.choose(path);
      const { output, error } = await tab.page.evaluate(() => bench.ours.probeRecord());
      if (!output) throw new MediaError(error?.kind ?? "internal_error", error?.message ?? "");
      return output;
    },
    async convert(_path, conversion, name) {
      const task = await tab.page.evaluate((work) => bench.ours.taskRecord(work as never), conversion);
      if (task.status === "succeeded") await tab.page.evaluate((to) => bench.ours.save(to), name);
      return task;
    },
    pathOf: site.saved,
  };
}

async function openEncoder(encoder: "light" | "native", ends: AsyncDisposableStack): Promise<Host> {
  const folder = await makeScratch(ends);
  const host = await openChunkedHost();
  ends.defer(() => host.close());
  const pathOf = (name: string) => join(folder, name);
  return {
    probe: host.probe,
    async convert(path, conversion, name) {
      const forced = { encoder, chunk_seconds: null, may_refuse: true };
      const { task, bytes } = await host.run(path, conversion, forced);
      if (bytes) await writeFile(pathOf(name), bytes);
      return task;
    },
    pathOf,
  };
}

/** Probes and converts the file at each path that it receives as a message, and answers with an {@link Attempt}. */
async function serveHost(name: HostName): Promise<void> {
  const ends = new AsyncDisposableStack();
  const host = await (name === "page" ? openPage(ends) : openEncoder(name, ends));
  let outputs = 0;

  async function attempt(path: string): Promise<Attempt> {
    let source: Source | null = null;
    let conversion: Conversion | null = null;
    try {
      source = await host.probe(path);
      conversion = conversionFor(source);
      const output = `${outputs++}.${conversion.options.format}`;
      const { error, steps } = await host.convert(path, conversion, output);
      const stepOutput = steps.find(({ kind }) => kind === conversion?.kind)?.output;
      if (error) return { source, conversion, error };
      if (!stepOutput) throw new Error("The task has neither an output nor an error.");
      return {
        source,
        conversion,
        made: stepOutput,
        encoder: stepOutput.encoder ?? "",
        output: host.pathOf(output),
      };
    } catch (thrown) {
      const kind = thrown instanceof MediaError ? thrown.kind : "internal_error";
      return { source, conversion, error: { kind, message: Object(thrown).message ?? String(thrown) } };
    }
  }

  process.on("message", async (path: string) => process.send?.(await attempt(path)));
  process.once("disconnect", () => void ends.disposeAsync().finally(() => process.exit()));
  process.send?.("ready");
}

if (import.meta.main) await serveHost(process.argv[2] as HostName);
