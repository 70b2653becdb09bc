import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { appendFile, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MediaError } from "../../src/media/errors.ts";
import { runMain, stopSignal } from "../../worker/local/cli.ts";
import * as errors from "../../worker/local/errors.ts";
import { requireTools } from "../../worker/local/system.ts";
import { setup } from "../fixtures/build-assets.ts";
import { readFacts } from "../judge/facts.ts";
import { type Attempt, HOSTS, type HostName } from "./hosts.ts";
import { type Decodes, decode, judge } from "./judge.ts";

/** The result of a file on a host. */
export interface Verdict {
  result: "read" | "refused" | "wrong";
  /** The error's kind and message, or the output's faults. */
  reason?: string;
  /** The conversion, such as `video mp4`, and the encoder. */
  work?: string;
}

/** An entry of the manifest: facts about a file by native ffprobe and ffmpeg, and its results. */
export interface Entry {
  /** The repository that publishes it, from the name of the first folder, `owner+name`. */
  from: string;
  path: string;
  decodes: Decodes;
  format?: string;
  codecs?: string;
  size?: string;
  seconds?: number;
  hosts: Partial<Record<HostName, Verdict>>;
}

// Long enough for a loaded machine.
const LIMIT_MS = 60_000;
const START_MS = 120_000;
// Errors that a caller can act on; others are faults, unless the file is damaged.
const REFUSALS = /^(input_|invalid_|encoder_unavailable|request_invalid)/;
const DAMAGED = /^(encode_failed|encode_incomplete|probe_failed)/;

/** Tries every file of a folder on the hosts, and returns the entries by SHA-256; continues where `log` ends. */
export async function tryStrangers(
  folder: string,
  hosts: readonly HostName[],
  log: string,
  stop: AbortSignal,
): Promise<Map<string, Entry>> {
  const entries = await resume(log);
  const workers = new Map(hosts.map((name) => [name, createWorker(name)]));
  try {
    for (const [sha, path] of await filesOf(folder)) {
      if (stop.aborted) break;
      const [, owner = "", place = ""] = /^(?:([^/]+)\/)?(.*)$/.exec(relative(folder, path)) ?? [];
      const known = entries.get(sha);
      const entry = known ?? {
        from: owner.replace("+", "/"),
        path: place,
        ...(await factsOf(path)),
        hosts: {},
      };
      const missing = hosts.filter((name) => !entry.hosts[name]);
      if (missing.length === 0) continue;
      await Promise.all(
        missing.map(async (name) => {
          const verdict = await tryOn(workers.get(name) as Worker, path, entry.decodes);
          entry.hosts[name] = verdict;
          if (verdict.result !== "read")
            console.error(`${name} ${relative(folder, path)}: ${verdict.reason}`);
        }),
      );
      if (stop.aborted) break;
      entries.set(sha, entry);
      await appendFile(log, `${JSON.stringify([sha, entry])}\n`);
    }
  } finally {
    for (const worker of workers.values()) await worker.end();
  }
  return entries;
}

async function tryOn(worker: Worker, path: string, decodes: Decodes): Promise<Verdict> {
  const attempt = await worker.ask(path);
  if (typeof attempt === "string") return { result: "wrong", reason: attempt };
  const { kind, options } = attempt.conversion ?? { kind: "probe", options: { format: "" } };
  if ("error" in attempt) {
    const { kind: error, message } = attempt.error;
    const refused = REFUSALS.test(error) || (decodes !== "clean" && DAMAGED.test(error));
    return { result: refused ? "refused" : "wrong", reason: `${error}: ${message}` };
  }
  const work = `${kind} ${options.format} ${attempt.encoder}`;
  // Native ffmpeg cannot judge files that it does not decode.
  const wrong = await judge(path, attempt).catch((thrown) =>
    decodes === "clean" ? [`not judged: ${String(Object(thrown).message).slice(-200)}`] : [],
  );
  await rm(attempt.output, { force: true });
  return wrong.length > 0 ? { result: "wrong", reason: wrong.join("; "), work } : { result: "read", work };
}

async function factsOf(path: string): Promise<Omit<Entry, "from" | "path" | "hosts">> {
  const [decodes, facts] = [await decode(path), await readFacts(path, {}, 0.1).catch(() => null)];
  if (!facts) return { decodes };
  const { format, picture, sound, duration } = facts;
  const codecs = [picture?.codec, sound?.codec].filter((codec) => codec !== undefined).join(" ");
  return {
    decodes,
    format,
    codecs,
    ...(picture && { size: `${picture.width}x${picture.height}` }),
    ...(Number.isFinite(duration) && { seconds: duration }),
  };
}

interface Worker {
  /** Probes and converts a file. Returns a text when the host hung or crashed; the next file starts it again. */
  ask(path: string): Promise<Attempt | string>;
  end(): Promise<void>;
}

function createWorker(name: HostName): Worker {
  let child: ChildProcess | null = null;
  async function answer(from: ChildProcess, ms: number): Promise<unknown> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(ms)]);
    try {
      const message = once(from, "message", { signal }).then(([value]) => value as unknown);
      const exit = once(from, "exit", { signal }).then(() => Promise.reject(new Error("crashed")));
      return await Promise.race([message, exit]);
    } finally {
      over.abort();
    }
  }
  async function start(): Promise<ChildProcess> {
    // A separate process group, so that killing a host also ends its browser or encoders.
    const options = { detached: true, serialization: "advanced" } as const;
    const host = fork(join(import.meta.dirname, "hosts.ts"), [name], options);
    process.once("exit", () => kill(host));
    await answer(host, START_MS);
    return host;
  }
  return {
    async ask(path) {
      child ??= await start();
      const host = child;
      try {
        const reply = answer(host, LIMIT_MS);
        host.send(path);
        return (await reply) as Attempt;
      } catch (thrown) {
        child = null;
        kill(host);
        return Object(thrown).message === "crashed"
          ? "the host crashed"
          : `no answer after ${LIMIT_MS / 1000} s`;
      }
    },
    async end() {
      if (!child) return;
      const exit = once(child, "exit");
      child.disconnect();
      await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, 10_000).unref())]);
      kill(child);
    },
  };
}

function kill({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

// The log has a line for each attempt at a file.
async function resume(log: string): Promise<Map<string, Entry>> {
  if (!existsSync(log)) return new Map();
  const lines = (await readFile(log, "utf8")).split("\n").filter((line) => line.endsWith("]"));
  const entries = new Map<string, Entry>();
  for (const line of lines) {
    const [sha, entry] = JSON.parse(line) as [string, Entry];
    entries.set(sha, { ...entry, hosts: { ...entries.get(sha)?.hosts, ...entry.hosts } });
  }
  return entries;
}

const LARGEST = 20_000_000;

// The first files in the order of their SHA-256 are a fair sample.
async function filesOf(folder: string): Promise<[sha: string, path: string][]> {
  const files = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const { size } = await stat(path);
    if (size === 0 || size > LARGEST) continue;
    const sha = createHash("sha256").update(await readFile(path));
    files.set(sha.digest("hex"), path);
  }
  return [...files].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Returns the counts of a host's verdicts as a table in Markdown, by repository. */
export function tableOf(entries: Iterable<Entry>, hosts: readonly HostName[]): string {
  const rows = new Map<string, number[]>();
  const results = ["read", "refused", "wrong"] as const;
  for (const { from, hosts: verdicts } of entries) {
    for (const name of [from, "all"]) {
      const row = rows.get(name) ?? hosts.flatMap(() => results.map(() => 0));
      rows.set(name, row);
      for (const [index, host] of hosts.entries()) {
        const result = verdicts[host]?.result;
        const at = index * 3 + (result ? results.indexOf(result) : Number.NaN);
        if (result) row[at] = (row[at] ?? 0) + 1;
      }
    }
  }
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  const head = hosts.flatMap((host) => results.map((result) => `${host}: ${result}`));
  const sorted = [...rows].sort(([one], [other]) => Number(one === "all") - Number(other === "all"));
  return [
    line(["from", ...head]),
    line(["---", ...head.map(() => "--:")]),
    ...sorted.map(([name, row]) => line([name, ...row])),
  ].join("\n");
}

/** Returns a manifest's text, a line for each file. */
export function manifestText(entries: ReadonlyMap<string, Entry>): string {
  const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
  const lines = sorted.map(([sha, { hosts, ...facts }]) => {
    // The hosts finish in any order.
    const verdicts = Object.fromEntries(HOSTS.flatMap((name) => (hosts[name] ? [[name, hosts[name]]] : [])));
    return `${JSON.stringify(sha)}: ${JSON.stringify({ ...facts, hosts: verdicts })}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}

const USAGE = "npm run strangers -- FOLDER [--host page|light|native]… [--manifest FILE] [--log FILE]";

if (import.meta.main) {
  runMain(async () => {
    const option = { type: "string" } as const;
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { host: { ...option, multiple: true }, manifest: option, log: option },
    });
    const [folder, ...others] = positionals;
    const hosts = HOSTS.filter((name) => values.host?.includes(name) ?? true);
    const unknown = values.host?.some((name) => !HOSTS.includes(name as HostName));
    if (!folder || others.length > 0 || unknown) throw errors.argumentsUnknown({ usage: USAGE });
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new MediaError("request_invalid", `There is no folder ${folder}.`);
    const browsers = hosts.includes("page") ? (["chromium"] as const) : [];
    requireTools(["ffmpeg", "ffprobe", "heif-convert", ...browsers]);
    await setup();
    const log = values.log ?? `${resolve(folder)}.jsonl`;
    const entries = await tryStrangers(folder, hosts, log, stopSignal());
    console.log(tableOf(entries.values(), hosts));
    if (values.manifest) await writeFile(values.manifest, manifestText(entries));
  });
}
