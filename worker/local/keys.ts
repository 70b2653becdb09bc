import { parseArgs } from "node:util";
import type { ErrorKind, MediaError } from "../../src/media/errors.ts";
import { createIds } from "../../src/runs/ids.ts";
import {
  type ApiKey,
  type KeyRequest,
  type NewApiKey,
  parseKeyRequest,
  parseRollRequest,
  type RollRequest,
} from "../../src/runs/key.ts";
import { PROJECT_HEADER, PROJECTS_PATH } from "../auth/bearer.ts";
import { runMain } from "./cli.ts";
import * as errors from "./errors.ts";
import { startService } from "./service.ts";
import { parseSettings } from "./settings.ts";
import { findService } from "./state.ts";

interface Operator {
  create(project: string, request: KeyRequest): Promise<NewApiKey>;
  /** Returns the keys with their projects. */
  list(): Promise<{ project: string; key: ApiKey }[]>;
  roll(project: string, id: string, request: RollRequest): Promise<NewApiKey>;
  revoke(project: string, id: string): Promise<void>;
  /** Returns the project of a key; rejects when no project has it. */
  projectOf(id: string): Promise<string>;
}

const PAGE = 100;
const TIMEOUT_MS = 30_000;

/** Creates the calls to a service with its operator's key; each rejects with the service's {@link MediaError}. */
function createOperator(url: string, key: string): Operator {
  async function call<T>(method: string, path: string, project = "", body?: unknown): Promise<T> {
    const response = await fetch(url.replace(/\/+$/, "") + path, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        "Content-Type": "application/json",
        ...(project !== "" && { [PROJECT_HEADER]: project }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw errors.unreachable({ url, cause });
    });
    const text = await response.text();
    if (response.ok) return (text === "" ? null : JSON.parse(text)) as T;
    throw failureOf(url, response.status, text);
  }

  async function keysOf(project: string): Promise<ApiKey[]> {
    const keys: ApiKey[] = [];
    for (let more = true; more; ) {
      const after = keys.length > 0 ? `&after=${keys.at(-1)?.id}` : "";
      const page = await call<ApiKey[]>("GET", `/keys?limit=${PAGE}${after}`, project);
      keys.push(...page);
      more = page.length === PAGE;
    }
    return keys;
  }

  async function list(): Promise<{ project: string; key: ApiKey }[]> {
    const keys: { project: string; key: ApiKey }[] = [];
    for (const project of await call<string[]>("GET", PROJECTS_PATH))
      for (const key of await keysOf(project)) keys.push({ project, key });
    return keys;
  }

  return {
    create: (project, request) => call("POST", "/keys", project, request),
    list,
    roll: (project, id, request) => call("POST", `/keys/${encodeURIComponent(id)}/roll`, project, request),
    revoke: (project, id) => call("DELETE", `/keys/${encodeURIComponent(id)}`, project),
    async projectOf(id) {
      const entry = (await list()).find(({ key: each }) => each.id === id);
      if (!entry) throw errors.keyNotFound({ id });
      return entry.project;
    },
  };
}

function failureOf(url: string, status: number, text: string): MediaError {
  try {
    const { kind, message } = JSON.parse(text) as { kind: ErrorKind; message: string };
    return errors.refused({ url, kind, message });
  } catch {
    return errors.notAService({ url, status });
  }
}

const USAGE = `npm run keys -- create NAME [--project PROJECT] [--scopes read,write,admin,…]
                                    creates a key and prints it once; default read,write in a new project
npm run keys -- list                lists the keys: id, creation time, project, scopes, last use and name
npm run keys -- roll ID [--keep SECONDS]
                                    prints a new secret for a key, once; the old one keeps working for a day
npm run keys -- revoke ID           revokes a key; it stops working within five seconds

The keys are those of the local service (STATE_DIR) or, with --url URL, of the one deployed there, whose OPERATOR_KEY must be set here too.`;

runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      project: { type: "string" },
      scopes: { type: "string" },
      keep: { type: "string" },
      url: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  const [command, argument, ...rest] = positionals;
  const { project, scopes, keep } = values;
  if (values.help || rest.length > 0) console.log(USAGE);
  else if (command === "create" && argument) {
    const own = parseProject(project);
    const request = parseKeyRequest({
      name: argument,
      ...(scopes !== undefined && { scopes: scopes.split(",") }),
    });
    await using service = await reach(values.url);
    const key = await service.operator.create(own, request);
    show(key, `${key.id}, project ${own}.`);
  } else if (command === "list" && !argument) {
    await using service = await reach(values.url);
    await list(service.operator);
  } else if (command === "roll" && argument) {
    const request = parseRollRequest(keep === undefined ? {} : { keep_seconds: numberOf(keep) });
    await using service = await reach(values.url);
    const { operator } = service;
    show(
      await operator.roll(await operator.projectOf(argument), argument, request),
      `${argument} has a new secret.`,
    );
  } else if (command === "revoke" && argument) {
    await using service = await reach(values.url);
    const { operator } = service;
    await operator.revoke(await operator.projectOf(argument), argument);
    console.error(`${argument} is revoked.`);
  } else throw errors.argumentsUnknown({ usage: USAGE });
});

async function reach(url: string | undefined): Promise<AsyncDisposable & { operator: Operator }> {
  if (url !== undefined) {
    const key = process.env.OPERATOR_KEY;
    if (key === undefined) throw errors.operatorKeyMissing();
    return { operator: createOperator(url, newest(key)), [Symbol.asyncDispose]: async () => {} };
  }
  const settings = parseSettings(process.env);
  const own = settings.operator_key === undefined ? {} : { operator_key: newest(settings.operator_key) };
  const running = findService(settings.state_dir);
  if (running) {
    const { url: base, operator_key } = { ...running, ...own };
    return { operator: createOperator(base, operator_key), [Symbol.asyncDispose]: async () => {} };
  }
  const service = await startService({ ...settings, port: 0, native: 0 });
  const { operator_key = "" } = { ...findService(settings.state_dir), ...own };
  return {
    operator: createOperator(service.url, operator_key),
    [Symbol.asyncDispose]: () => service.stop(),
  };
}

function newest(keys: string): string {
  return keys.split(",")[0]?.trim() ?? "";
}

function parseProject(project: string | undefined): string {
  const own = project ?? createIds(Math.random)("key", Date.now()).replace("key_", "proj_");
  if (!/^[\w-]{1,64}$/.test(own)) throw errors.projectMalformed();
  return own;
}

function numberOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function show({ secret }: NewApiKey, message: string): void {
  console.error(`${message} Store the key now: it is not shown again.`);
  console.log(secret);
}

async function list(operator: Operator): Promise<void> {
  for (const { project, key } of await operator.list()) {
    const { id, created_at, scopes, last_used_at, name } = key;
    const last = last_used_at === null ? "never used" : `used ${new Date(last_used_at).toISOString()}`;
    console.log([id, new Date(created_at).toISOString(), project, scopes.join(","), last, name].join("  "));
  }
}
