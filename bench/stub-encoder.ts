import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { NATIVE_PROTOCOL, type NativeHealth } from "../src/encoders/native/native-wire.ts";
import { engineFeatures } from "../src/media/features.ts";

/** Starts a native encoder that encodes nothing: it stores the same file for every job at once. Returns its address. */
export async function startStubEncoder(
  path: string,
  mime: string,
  ends: AsyncDisposableStack,
): Promise<string> {
  const file = await readFile(path);
  const health: NativeHealth = {
    protocol: NATIVE_PROTOCOL,
    reads: [NATIVE_PROTOCOL],
    features: engineFeatures("native"),
    ffmpeg: "stub",
    places: 1000,
    running: 0,
    ending: false,
  };
  async function answer(request: IncomingMessage): Promise<object> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    if (request.method !== "POST") return health;
    const { folder, name }: { folder: string; name: string } = JSON.parse(Buffer.concat(pieces).toString());
    const put = await fetch(folder + name, { method: "PUT", headers: { "Content-Type": mime }, body: file });
    if (!put.ok) throw new Error(`PUT answered ${put.status}: ${await put.text()}`);
    return { state: "done", written: [{ name, mime, size: file.length }], playlists: [], tally: {} };
  }
  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body)),
      (thrown: unknown) => response.writeHead(500).end(String(thrown)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
