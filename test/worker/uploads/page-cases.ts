import { expect, test } from "vitest";
import type { Upload } from "../../../src/runs/upload.ts";
import { openBrowser } from "../../browser/chromium.ts";
import { startOrigin } from "../../fixtures/origin.ts";
import { base, MIB, rig } from "./upload-lab.ts";

interface Order {
  base: string;
  size: number;
  output: string | undefined;
}

// Runs in the page.
async function sendFile({ base, size, output }: Order) {
  const headers = { Authorization: "Bearer key-of-alpha", "Content-Type": "application/json" };
  const ask = async (path: string, body: object) => {
    const answer = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
    return answer.json();
  };
  const file = new File([new Uint8Array(size).fill(7)], "of a page.mp4", { type: "video/mp4" });
  const request = { size, content_type: file.type, name: file.name };
  const upload: Upload = await ask("/uploads", output === undefined ? request : { ...request, output });
  let at = 0;
  const parts: { part: number; etag: string | null }[] = [];
  for (const { part, size, url, headers } of upload.parts) {
    const answer = await fetch(url, { method: "PUT", headers, body: file.slice(at, at + size) });
    at += size;
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    parts.push({ part, etag: answer.headers.get("etag") });
  }
  // A file of another type sends its own Content-Type. Other storage may break the connection before the
  // answer is read.
  const [first] = upload.parts;
  const other = new Blob([file], { type: "text/html" });
  const answerReadable = first && upload.parts.length === 1 && output === undefined;
  const refused = answerReadable ? (await fetch(first.url, { method: "PUT", body: other })).status : null;
  const done: Upload = await ask(`/uploads/${upload.id}/complete`, { parts });
  const step = await ask("/steps", { kind: "ingest", input: { url: done.url } });
  return { parts, refused, done, step };
}

test("a page of another origin uploads files to the service and to a bucket, and uses them in steps", async () => {
  await using ends = new AsyncDisposableStack();
  const origin = await startOrigin();
  ends.defer(() => origin.close());
  const browser = await openBrowser();
  ends.defer(() => browser.close());
  const page = await browser.newPage();
  await page.goto(
    origin.serve("/page.html", { file: new TextEncoder().encode("<!doctype html>"), mime: "text/html" }),
  );
  for (const [size, output] of [
    [MIB, undefined],
    [16 * MIB + 1, "s3://bucket-in/of a page, long.mp4"],
  ] as const) {
    const { parts, refused, done, step } = await page.evaluate(sendFile, { base, size, output });
    expect(parts.map(({ etag }) => etag)).toEqual(parts.map(() => expect.stringMatching(/^"?\w.*"?$/)));
    expect(refused).toBe(output ? null : 403);
    expect([done.status, done.size, done.output]).toEqual(["stored", size, output ?? null]);
    const ended = await rig.finishedStep(step.id);
    // The bytes are no media; it is enough that the step could read them.
    expect([ended.status, ended.error?.kind]).toEqual(["failed", "input_unsupported"]);
  }
});
