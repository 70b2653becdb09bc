import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";

export interface Passed {
  method: string;
  /** Path and query. */
  path: string;
  /** The number of the part it uploads, or null. */
  part: number | null;
  headers: IncomingMessage["headers"];
  /** Bytes of an endless answer so far. */
  sent: number;
}

/**
 * A fault that replaces passing a request on: an answer; a cut in the middle of its body; after the target
 * replied, a cut instead of its answer (`lose`) or in the middle of it (`break`); no answer (`hold`); a
 * late one; or one with a status whose body never ends.
 */
export type Fault =
  | { status: number; code?: string; headers?: Record<string, string> }
  | "cut"
  | "lose"
  | "break"
  | "hold"
  | { late_ms: number }
  | { endless: number }
  | null;

const ENDLESS = Buffer.alloc(1_000_000, "<a>");

/** A server on loopback that passes requests on to another, or fails them on demand. */
export interface S3Proxy {
  /** Such as `http://127.0.0.1:4711`. */
  readonly url: string;
  /** Every request so far except preflights, oldest first. */
  readonly log: Passed[];
  /** Sets which requests fail from now on, and clears the log. */
  fail(fault: ((request: Passed, count: number) => Fault) | null): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of a server; keeps the Host header, which is signed. */
export async function startProxy(target: string): Promise<S3Proxy> {
  const log: Passed[] = [];
  let fault: ((request: Passed, count: number) => Fault) | null = null;
  const server = createServer((request, response) => {
    const { method = "", url = "/", headers } = request;
    // Preflights always pass.
    if (method === "OPTIONS") return pass(target, request, response, null);
    const part = new URL(url, target).searchParams.get("partNumber");
    const passed: Passed = { method, path: url, headers, part: part === null ? null : Number(part), sent: 0 };
    log.push(passed);
    const failing = fault?.(passed, log.length - 1) ?? null;
    if (failing === "cut") {
      const cut = () => request.socket.destroy();
      if (Number(headers["content-length"] ?? 0) > 0) request.once("data", cut);
      else cut();
      return;
    }
    if (failing === "hold") return void request.resume();
    if (typeof failing === "object" && failing && "late_ms" in failing)
      return void setTimeout(() => pass(target, request, response, null), failing.late_ms);
    if (typeof failing === "object" && failing && "endless" in failing) {
      request.resume();
      response.writeHead(failing.endless, { "content-type": "application/xml" });
      const more = () => {
        do passed.sent += ENDLESS.length;
        while (response.write(ENDLESS));
      };
      response.on("drain", more);
      return more();
    }
    if (typeof failing === "object" && failing) {
      request.resume();
      const xml = failing.code === undefined ? "" : `<Error><Code>${failing.code}</Code></Error>`;
      const open = { "access-control-allow-origin": "*" };
      request.once("end", () => response.writeHead(failing.status, { ...open, ...failing.headers }).end(xml));
      return;
    }
    pass(target, request, response, failing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    fail(next) {
      fault = next;
      log.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  fault: "lose" | "break" | null,
): void {
  const { hostname, port } = new URL(target);
  const { method, url, headers } = request;
  const onward = send({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
    if (fault === "lose") {
      answer.resume();
      answer.once("end", () => request.socket.destroy());
      return;
    }
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    if (fault !== "break") return void answer.pipe(response);
    let left = Number(answer.headers["content-length"]) / 2;
    answer.on("data", (bytes: Buffer) => {
      const piece = bytes.subarray(0, left);
      left -= piece.length;
      response.write(piece, () => left < 1 && request.socket.destroy());
    });
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}
