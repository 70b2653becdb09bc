import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/** The fate of a request: it passes, gets a status, hangs, is cut off, or is cut off mid-answer. */
export type Fate = "pass" | number | "hang" | "cut" | "half";

/** A request that arrives at the gate. */
export interface Passer {
  method: string;
  /** `work` or `out`. */
  folder: string;
  range: string | undefined;
}

/** A real HTTP proxy on loopback between the native encoders and the service, which can fail requests. */
export interface Gate {
  readonly url: string;
  /** Every request so far, as `METHOD /path`. */
  readonly log: string[];
  /** Sets the server that requests go to. */
  open(target: string): void;
  /** Sets what happens to the requests for files of a run from now on. */
  rule(run: string, rule: (passer: Passer) => Fate): void;
  close(): Promise<void>;
}

/** Starts a gate that lets everything pass. */
export async function startGate(): Promise<Gate> {
  const log: string[] = [];
  let target = "";
  const rules = new Map<string, (passer: Passer) => Fate>();
  const server = createServer((request, response) => {
    const { method = "", headers } = request;
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    log.push(`${method} ${path}`);
    const [, folder = "", run = ""] = /\/(work|out)\/([^/]+)\//.exec(path) ?? [];
    const fate = rules.get(run)?.({ method, folder, range: headers.range }) ?? "pass";
    if (fate === "hang") return;
    if (typeof fate === "number") return refuse(request, response, fate);
    if (fate === "cut") return void request.socket.destroy();
    pass(request, response, target, fate === "half");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    open(url) {
      target = url;
    },
    rule(run, rule) {
      rules.set(run, rule);
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.resume().on("end", () => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ kind: "internal_error", message: "As configured.", request_id: "req_1" }));
  });
}

function pass(request: IncomingMessage, response: ServerResponse, target: string, half: boolean): void {
  const { method, headers } = request;
  const out = send(target + request.url, { method, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    const most = half ? Number(answer.headers["content-length"] ?? 2) / 2 : Number.POSITIVE_INFINITY;
    let forwarded = 0;
    answer.on("data", (piece: Buffer) => {
      const bytes = piece.subarray(0, Math.max(0, Math.floor(most - forwarded)));
      forwarded += bytes.length;
      // Destroyed only once what came before has been sent.
      if (forwarded >= Math.floor(most)) response.write(bytes, () => response.destroy());
      else response.write(bytes);
    });
    answer.on("end", () => response.end());
    answer.on("error", () => response.destroy());
  });
  out.on("error", () => response.destroy());
  response.on("close", () => out.destroy());
  request.pipe(out);
}
