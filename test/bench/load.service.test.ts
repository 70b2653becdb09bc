import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type LoadRequest, runLoad } from "../../bench/load.ts";

async function serve(listener: RequestListener): Promise<LoadRequest> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  return { method: "POST", url, key: "k", body: { a: 1 }, status: 201 };
}

test("sends every request once, over the requested number of connections", async () => {
  let received = 0;
  let bodies = "";
  const sockets = new Set<unknown>();
  const ask = await serve((request, response) => {
    received++;
    sockets.add(request.socket);
    expect(request.headers.authorization).toBe("Bearer k");
    request.on("data", (part) => {
      bodies += part;
    });
    request.on("end", () => response.writeHead(201).end("made"));
  });
  const load = await runLoad(ask, 30, 3);
  expect(received).toBe(30);
  expect(bodies).toBe('{"a":1}'.repeat(30));
  expect(sockets.size).toBe(3);
  expect(load.rate).toBeGreaterThan(0);
  expect(load.p50).toBeGreaterThan(0);
  expect(load.p99).toBeGreaterThanOrEqual(load.p50);
});

test("rejects on an unexpected status and stops sending", async () => {
  let received = 0;
  const ask = await serve((_, response) => {
    response.writeHead(received++ < 5 ? 201 : 500).end("oops");
  });
  await expect(runLoad(ask, 1000, 2)).rejects.toThrow(`POST ${ask.url} answered 500: oops`);
  expect(received).toBeLessThan(10);
});
