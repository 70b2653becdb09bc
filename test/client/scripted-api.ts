import { type Answer, type LoggedRequest, startOrigin } from "../fixtures/origin.ts";

/** Answers of an API in order of the requests; the last one repeats. */
export type Script = readonly (object | Answer)[];

/** A server with scripted answers, for failures of the service. */
export interface ScriptedApi {
  url: string;
  log: LoggedRequest[];
  /** Scripts the answers of a path: JSON, or any answer of an origin. */
  at(path: string, ...script: Script): void;
  /** Returns the requests to a path so far, as `METHOD status`. */
  requestsTo(path: string): string[];
  close(): Promise<void>;
}

/** An answer cut off before its first byte. */
export const CUT: Answer = { file: Buffer.from("{}"), cut_after: 0 };

/** An answer with a status and a body, as JSON. */
export function refusal(status: number, body: object | string, headers: Record<string, string> = {}): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers, file: Buffer.from(text), mime: "application/json" };
}

/** Starts a {@link ScriptedApi} on loopback. */
export async function startScriptedApi(): Promise<ScriptedApi> {
  const origin = await startOrigin();
  return {
    url: origin.url,
    log: origin.log,
    at(path, ...script) {
      origin.serve(path, (request) => {
        const answer = script[Math.min(request, script.length - 1)] ?? {};
        return isAnswer(answer) ? answer : refusal(200, answer);
      });
    },
    requestsTo: (path) =>
      origin.log.filter((entry) => entry.path === path).map(({ method, status }) => `${method} ${status}`),
    close: () => origin.close(),
  };
}

function isAnswer(answer: object | Answer): answer is Answer {
  return ["file", "status", "silent", "redirect"].some(
    (name) => Object.hasOwn(answer, name) && !("object" in answer),
  );
}
