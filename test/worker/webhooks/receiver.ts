import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookEvent } from "../../../src/runs/webhook-events.ts";

/** How a receiver answers: a status, nothing, a broken connection or a redirect. */
export type Taking = number | "hang" | "reset" | { redirect: string };

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
  take(path: string, how?: (request: number, received: Received) => Taking): string;
  /** The requests to a path, oldest first. */
  got(path: string): Received[];
  close(): Promise<void>;
}

/** Starts a receiver that answers 404 for unknown paths. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const ways = new Map<string, (request: number, received: Received) => Taking>();
  const all: Received[] = [];
  const server = createServer((request, response) => {
    // A body that breaks off is none: its sender was killed.
    void readText(request).then(
      (body) => {
        const path = request.url ?? "/";
        const before = all.filter((each) => each.path === path).length;
        const headers = request.headers as Record<string, string>;
        const received = { path, headers, body, event: JSON.parse(body), at: Date.now() };
        all.push(received);
        answer(request, response, ways.get(path)?.(before, received) ?? 404);
      },
      () => {},
    );
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    take(path, how = () => 200) {
      ways.set(path, how);
      return url + path;
    },
    got: (path) => all.filter((each) => each.path === path),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, how: Taking): void {
  if (how === "hang") return;
  if (how === "reset") return void request.socket.resetAndDestroy();
  if (typeof how === "number") return void response.writeHead(how).end("A body that nobody reads.");
  response.writeHead(301, { Location: how.redirect }).end();
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
