import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServedFile, serveFile } from "../../worker/local/demo-files.ts";

const TEXT = "0123456789";
let folder: string;
let server: ServedFile;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-file-"));
  const path = join(folder, "my clip #1.txt");
  await writeFile(path, TEXT);
  server = await serveFile(path);
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

test("serves the whole file under its own name", async () => {
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/my%20clip%20%231\.txt$/);
  const response = await fetch(server.url);
  expect(response.status).toBe(200);
  expect(response.headers.get("Accept-Ranges")).toBe("bytes");
  expect(response.headers.get("Content-Length")).toBe("10");
  expect(await response.text()).toBe(TEXT);
});

test("does not serve it for a host name that was rebound to this machine", async () => {
  const { port } = new URL(server.url);
  const status = (host: string) =>
    new Promise((resolve, reject) => {
      const sent = request(server.url, { headers: { Host: host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on("error", reject).end();
    });
  const hosts = [`127.0.0.1:${port}`, `evil.example:${port}`, `localhost:${port}`];
  expect(await Promise.all(hosts.map(status))).toEqual([200, 403, 403]);
});

test.for([
  { range: "bytes=0-3", status: 206, text: "0123", content: "bytes 0-3/10" },
  { range: "bytes=4-", status: 206, text: "456789", content: "bytes 4-9/10" },
  { range: "bytes=-3", status: 206, text: "789", content: "bytes 7-9/10" },
  { range: "bytes=-30", status: 206, text: TEXT, content: "bytes 0-9/10" },
  { range: "bytes=8-30", status: 206, text: "89", content: "bytes 8-9/10" },
  { range: "bytes=10-", status: 416, text: "", content: "bytes */10" },
  { range: "bytes=5-4", status: 416, text: "", content: "bytes */10" },
  { range: "bytes=0-1,3-4", status: 200, text: TEXT, content: null },
  { range: "bytes=-", status: 200, text: TEXT, content: null },
] as const)("$range", async ({ range, status, text, content }) => {
  const response = await fetch(server.url, { headers: { Range: range } });
  expect([response.status, await response.text(), response.headers.get("Content-Range")]).toEqual([
    status,
    text,
    content,
  ]);
});

test("answers HEAD with the size and no body", async () => {
  const response = await fetch(server.url, { method: "HEAD" });
  expect([response.status, response.headers.get("Content-Length"), await response.text()]).toEqual([
    200,
    "10",
    "",
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
