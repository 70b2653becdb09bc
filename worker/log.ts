import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Step } from "../src/runs/step.ts";
import type { Task } from "../src/runs/task.ts";
import type { ApiEnv } from "./http/context.ts";
import type { ServiceSettings } from "./settings.ts";

/** The severity of a log line. */
export type LogLevel = ServiceSettings["LOG_LEVEL"];

/** A log line, as JSON. It contains only ids, route names, kinds and numbers, never a URL, a header or a body. */
export interface LogLine {
  message: string;
  request_id?: string | undefined;
  task_id?: string | undefined;
  step_id?: string | undefined;
  project?: string | undefined;
  /** Id of the API key, never the key. */
  key_id?: string | undefined;
  method?: string | undefined;
  /** The template of the path; the path itself may contain a signature. */
  route?: string | undefined;
  kind?: string | undefined;
  status?: number | string | undefined;
  /** Name of the encoder that did the work. */
  encoder?: string | undefined;
  /** Kind of the error. */
  error?: string | undefined;
  ms?: number | undefined;
}

/** Returns the log field for the id of a task or a standalone step; none for any other id. */
export function nameRun(id: string | undefined): Pick<LogLine, "task_id" | "step_id"> {
  if (id?.startsWith("task_")) return { task_id: id };
  return id?.startsWith("step_") ? { step_id: id } : {};
}

/** Writes a line of the log. */
export type Log = (level: LogLevel, line: LogLine) => void;

/** Creates a log that omits lines below a level. */
export function createLog(
  minLevel: LogLevel,
  write: (level: LogLevel, text: string) => void = writeConsole,
): Log {
  return (level, line) => {
    if (minLevel === "error" && level === "info") return;
    write(level, JSON.stringify({ level, ...line }));
  };
}

function writeConsole(level: LogLevel, text: string): void {
  if (level === "error") console.error(text);
  else console.log(text);
}

/** Fields of a log line that locate a fault; they must not contain untrusted text. */
export type FaultFields = Readonly<Record<string, string | number | undefined>>;

/** Logs a fault with the stacks of the error and its cause. Reduces URLs to their origins, because the rest may be secret. */
export function logFault(message: string, thrown: unknown, fields: FaultFields = {}): void {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const line = { level: "error", message, ...fields, error: textOf(thrown) };
  console.error(JSON.stringify(cause === undefined ? line : { ...line, cause: textOf(cause) }));
}

function textOf(thrown: unknown): string {
  const text = thrown instanceof Error ? (thrown.stack ?? String(thrown)) : String(thrown);
  return text.replaceAll(/\b(?:https?|s3):\/\/[^\s"'<>)]*/gi, originOf);
}

function originOf(url: string): string {
  const { protocol, host } = URL.parse(url) ?? { protocol: "", host: "" };
  return `${protocol}//${host}/…`;
}

/** Logs the end of a task or a standalone step. */
export function logEnd(log: Log, project: string, record: Task | Step): void {
  const { object, id, kind, status, error, created_at, finished_at } = record;
  const steps = object === "task" ? record.steps : [record];
  const encoder = steps.map(encoderOf).find((name) => name !== "");
  log("info", {
    message: `${object} ended`,
    ...nameRun(id),
    project,
    kind,
    status,
    encoder,
    error: error?.kind,
    ms: (finished_at ?? created_at) - created_at,
  });
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Logs every request when its response begins, for a stream long before it ends. */
export function logRequests(log: Log, now: () => number): MiddlewareHandler<ApiEnv> {
  return async function logRequests(c, next) {
    const began = now();
    await next();
    const { status } = c.res;
    const route = routePath(c, -1);
    log(status >= 500 ? "error" : "info", {
      message: "request",
      request_id: c.get("request_id"),
      ...nameRun(c.get("subject")),
      project: c.get("project"),
      key_id: c.get("principal")?.id,
      method: METHODS.has(c.req.method) ? c.req.method : "other",
      // Requests that no route handles match the middlewares' wildcards.
      route: route.includes("*") && !route.startsWith("/media/") ? "none" : route,
      status,
      ms: now() - began,
    });
  };
}

/** Returns the name of the encoder that made a step's output; empty when none did. */
export function encoderOf({ kind, output }: Pick<Step, "kind" | "output">): string {
  // These steps copy the encoder from the source that they read.
  if (kind === "probe" || kind === "ingest" || kind === "upload") return "";
  const name = (output as { encoder?: unknown } | null)?.encoder;
  return typeof name === "string" ? name : "";
}
