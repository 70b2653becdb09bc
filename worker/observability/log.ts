import type { ServiceSettings } from "../settings/schema.ts";

/** How much a line of the log matters. */
export type LogLevel = ServiceSettings["LOG_LEVEL"];

/** One line of the log, as JSON. What is in it comes from this service: ids, names of routes, kinds and numbers, never a URL, a header or a body. */
export interface LogLine {
  message: string;
  request_id?: string | undefined;
  task_id?: string | undefined;
  step_id?: string | undefined;
  project?: string | undefined;
  /** Id of the API key, never the key. */
  key_id?: string | undefined;
  method?: string | undefined;
  /** The template of the path, as a path itself may hold a signature. */
  route?: string | undefined;
  kind?: string | undefined;
  status?: number | string | undefined;
  /** Name of the encoder that did the work. */
  encoder?: string | undefined;
  /** Kind of the error. */
  error?: string | undefined;
  ms?: number | undefined;
}

/** Returns the id of a task or a standalone step as log lines name it; nothing for another id. */
export function nameRun(id: string | undefined): Pick<LogLine, "task_id" | "step_id"> {
  if (id?.startsWith("task_")) return { task_id: id };
  return id?.startsWith("step_") ? { step_id: id } : {};
}

/** Writes a line of the log. */
export type Log = (level: LogLevel, line: LogLine) => void;

/** Builds a log that leaves out what is below a level. */
export function createLog(
  least: LogLevel,
  write: (level: LogLevel, text: string) => void = writeConsole,
): Log {
  return (level, line) => {
    if (least === "error" && level === "info") return;
    write(level, JSON.stringify({ level, ...line }));
  };
}

function writeConsole(level: LogLevel, text: string): void {
  if (level === "error") console.error(text);
  else console.log(text);
}
