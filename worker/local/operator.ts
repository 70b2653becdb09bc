import type { ErrorKind, MediaError } from "../../src/media/errors.ts";
import type { ApiKey, KeyRequest, NewApiKey, RollRequest } from "../../src/runs/key.ts";
import { PROJECT_HEADER, PROJECTS_PATH } from "../auth/bearer.ts";
import { errors } from "./errors.ts";

/** The keys of all projects of a service. */
export interface Operator {
  create(project: string, request: KeyRequest): Promise<NewApiKey>;
  /** Returns the keys with their projects. */
  list(): Promise<{ project: string; key: ApiKey }[]>;
  roll(project: string, id: string, request: RollRequest): Promise<NewApiKey>;
  revoke(project: string, id: string): Promise<void>;
  /** Returns the project of a key; throws where no project has it. */
  projectOf(id: string): Promise<string>;
}

const PAGE = 100;
const PATIENCE_MS = 30_000;

/** Creates the calls to a service with its operator's key; each rejects with the service's {@link MediaError}. */
export function createOperator(url: string, key: string): Operator {
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
      signal: AbortSignal.timeout(PATIENCE_MS),
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
    const found: { project: string; key: ApiKey }[] = [];
    for (const project of await call<string[]>("GET", PROJECTS_PATH))
      for (const key of await keysOf(project)) found.push({ project, key });
    return found;
  }

  return {
    create: (project, request) => call("POST", "/keys", project, request),
    list,
    roll: (project, id, request) => call("POST", `/keys/${encodeURIComponent(id)}/roll`, project, request),
    revoke: (project, id) => call("DELETE", `/keys/${encodeURIComponent(id)}`, project),
    async projectOf(id) {
      const found = (await list()).find(({ key: each }) => each.id === id);
      if (!found) throw errors.keyNotFound({ id });
      return found.project;
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
