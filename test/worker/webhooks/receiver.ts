import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookEvent } from "../../../src/runs/webhook-events.ts";

/** The answer of a receiver: a status, nothing, a broken connection or a redirect. */
export type Answer = number | "hang" | "reset" | { redirect: string };

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  event: WebhookEvent;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A real HTTP server on loopback that webhooks are posted to. */
export interface Receiver {
  /** Sets how a path answers its requests, numbered from 0; returns its URL. */
  serve(path: string, answer?: (request: number, received: Received) => Answer): string;
  /** The requests to a path, oldest first. */
  requests(path: string): Received[];
  close(): Promise<void>;
}

/** Starts a receiver that answers 404 for unknown paths. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const answers = new Map<string, (request: number, received: Received) => Answer>();
  const all: Received[] = [];
  const server = createServer((request, response) => {
    // An incomplete body is ignored: its sender was killed.
    void readText(request).then(
      (body) => {
        const path = request.url ?? "/";
        const earlier = all.filter((each) => each.path === path).length;
        const headers = request.headers as Record<string, string>;
        const received = { path, headers, body, event: JSON.parse(body), at: Date.now() };
        all.push(received);
        send(request, response, answers.get(path)?.(earlier, received) ?? 404);
      },
      () => {},
    );
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    serve(path, answer = () => 200) {
      answers.set(path, answer);
      return url + path;
    },
    requests: (path) => all.filter((each) => each.path === path),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (answer === "hang") return;
  if (answer === "reset") return void request.socket.resetAndDestroy();
  if (typeof answer === "number") return void response.writeHead(answer).end("A body that nobody reads.");
  response.writeHead(301, { Location: answer.redirect }).end();
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
