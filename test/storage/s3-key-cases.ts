import { request } from "node:http";
import { expect, test } from "vitest";
import { bytes, ceph, fault, open, textOf } from "./s3-lab.ts";

test("keys may contain characters special to URLs, XML and shells, and stay distinct", async () => {
  const storage = open();
  const keys = [
    ..."a b|a+b|a%20b|a%2Bb|100%|é|é|日本 語/ü.mp4|x?y=z&a=b#c|par(1)'!*.txt|<a>&quot;|a//b|/lead|tail/|~-._|$,;:@=|new\nline|.hidden|..two|a/.b/...|++|%|%2F|a+ %20+b".split(
      "|",
    ),
    "k".repeat(1000),
  ];
  await Promise.all(
    keys.map((key) => storage.write(`odd/${key}`, new TextEncoder().encode(key), "text/plain")),
  );
  for (const key of keys) expect(await textOf(storage, `odd/${key}`)).toBe(key);
  await storage.clear("odd/a+");
  expect(await storage.head("odd/a+b")).toBe(null);
  expect((await storage.head("odd/a b"))?.size).toBe(3);
  await storage.clear("odd/");
  for (const key of keys) expect(await storage.head(`odd/${key}`)).toBe(null);
  for (const key of ["a/../b", "./a", "\ud800", "k".repeat(1025)]) {
    expect(await fault(storage.write(key, bytes(1), "text/plain"))).toMatchObject({ kind: "invalid_output" });
  }
});

test("supports the bucket in the host name", async () => {
  const { port } = new URL(ceph.connection.endpoint);
  // Not every machine resolves names below localhost.
  const fetchOnLoopback = (url: string, { method = "GET", headers, body }: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      const { host, pathname } = new URL(url);
      const all = { ...(headers as Record<string, string>), host };
      const sent = request(
        { hostname: "127.0.0.1", port, path: pathname, method, headers: all },
        (answer) => {
          answer.resume();
          resolve(new Response(null, { status: answer.statusCode ?? 0, headers: answer.headers as never }));
        },
      );
      sent.on("error", reject).end(body);
    });
  const storage = open({
    endpoint: `http://localhost:${port}`,
    force_path_style: false,
    fetch: fetchOnLoopback,
  });
  await storage.write("virtual/a b+c", bytes(10), "video/mp4");
  expect(await open().head("virtual/a b+c")).toMatchObject({ size: 10, mime: "video/mp4" });
});
