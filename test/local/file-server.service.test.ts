import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServedFile, serveFile } from "../../worker/local/demo-files.ts";

const TEXT = "0123456789";
let folder: string;
let served: ServedFile;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-file-"));
  const path = join(folder, "my clip #1.txt");
  await writeFile(path, TEXT);
  served = await serveFile(path);
});
afterAll(async () => {
  served.close();
  await rm(folder, { recursive: true, force: true });
});

test("serves the whole file under its own name", async () => {
  expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/my%20clip%20%231\.txt$/);
  const response = await fetch(served.url);
  expect(response.status).toBe(200);
  expect(response.headers.get("Accept-Ranges")).toBe("bytes");
  expect(response.headers.get("Content-Length")).toBe("10");
  expect(await response.text()).toBe(TEXT);
});

test("does not serve it for a host name that was rebound to this machine", async () => {
  const { port } = new URL(served.url);
  const status = (host: string) =>
    new Promise((resolve, reject) => {
      const sent = request(served.url, { headers: { Host: host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on("error", reject).end();
    });
  const hosts = [`127.0.0.1:${port}`, `evil.example:${port}`, `localhost:${port}`];
  expect(await Promise.all(hosts.map(status))).toEqual([200, 403, 403]);
});

test.for([
  ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
  ["bytes=4-", 206, "456789", "bytes 4-9/10"],
  ["bytes=-3", 206, "789", "bytes 7-9/10"],
  ["bytes=-30", 206, TEXT, "bytes 0-9/10"],
  ["bytes=8-30", 206, "89", "bytes 8-9/10"],
  ["bytes=10-", 416, "", "bytes */10"],
  ["bytes=5-4", 416, "", "bytes */10"],
  ["bytes=0-1,3-4", 200, TEXT, null],
  ["bytes=-", 200, TEXT, null],
] as const)("%s", async ([range, status, text, content]) => {
  const response = await fetch(served.url, { headers: { Range: range } });
  expect([response.status, await response.text(), response.headers.get("Content-Range")]).toEqual([
    ...[status, text, content],
  ]);
});

test("answers HEAD with the size and no body", async () => {
  const response = await fetch(served.url, { method: "HEAD" });
  expect([response.status, response.headers.get("Content-Length"), await response.text()]).toEqual([
    ...[200, "10", ""],
  ]);
});

test("serves an empty file; rejects a missing file and a folder", async () => {
  const empty = join(folder, "empty");
  await writeFile(empty, "");
  const other = await serveFile(empty);
  expect(await (await fetch(other.url)).text()).toBe("");
  other.close();
  await expect(serveFile(join(folder, "none"))).rejects.toThrow("There is no file");
  await expect(serveFile(folder)).rejects.toThrow("There is no file");
});
