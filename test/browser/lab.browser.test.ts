import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Lab, openLab } from "./lab.ts";
import { CASES } from "./memory.page.ts";

let lab: Lab;
let files: string;
beforeAll(async () => {
  files = await mkdtemp(join(tmpdir(), "framewright-files-"));
  mkdirSync(join(files, "deep"));
  writeFileSync(join(files, "deep/digits ä.mp4"), "0123456789");
  lab = await openLab({ files, isolated: true });
});
afterAll(async () => {
  await lab?.close();
  await rm(files, { recursive: true, force: true });
});

test("a page can import the repository's modules and their packages", async () => {
  const kinds = await lab.page.evaluate(async () => {
    const { Task } = await import("../../src/runs/task.ts");
    const { probeMedia } = await import("../../src/probe/probe.ts");
    return [typeof Task.parse, typeof probeMedia];
  });
  expect(kinds).toEqual(["function", "function"]);
  expect(lab.complaints).toEqual([]);
});

test("a page is cross-origin isolated on request, and has OPFS", async () => {
  const seen = await lab.page.evaluate(async () => {
    await navigator.storage.getDirectory();
    return [isSecureContext, crossOriginIsolated];
  });
  expect(seen).toEqual([true, true]);
});

test("serves files with ranges", async () => {
  const seen = await lab.page.evaluate(async () => {
    const url = "/files/deep/digits%20%C3%A4.mp4";
    const whole = await fetch(url);
    const part = await fetch(url, { headers: { Range: "bytes=3-5" } });
    const none = await fetch(url, { headers: { Range: "bytes=10-" } });
    return [
      [whole.status, whole.headers.get("Content-Type"), await whole.text()],
      [part.status, part.headers.get("Content-Range"), await part.text()],
      [none.status, none.headers.get("Content-Range"), (await fetch("/files/none")).status],
    ];
  });
  expect(seen).toEqual([
    [200, "video/mp4", "0123456789"],
    [206, "bytes 3-5/10", "345"],
    [416, "bytes */10", 404],
  ]);
  // Chromium logs every 404.
  expect(lab.complaints.splice(0)).toHaveLength(2);
});

test.for(["page", "worker"] as const)(
  "runs a case in a %s, and rejects for a missing case or module",
  async (where) => {
    const [name = ""] = Object.keys(CASES);
    await lab.run("/test/browser/memory.page.ts", name, where);
    await expect(lab.run("/test/browser/memory.page.ts", "no such", where)).rejects.toThrow(
      '/test/browser/memory.page.ts has no case "no such".',
    );
    await expect(lab.run("/test/browser/none.page.ts", name, where)).rejects.toThrow(/imported module/);
    // Chromium logs the 404 of the missing module.
    for (const complaint of lab.complaints.splice(0)) expect(complaint).toMatch(/404/);
  },
);

test("collects uncaught errors of pages and workers", async () => {
  await lab.page.evaluate(async () => {
    const code = "setTimeout(() => { throw new Error('of the worker'); }); postMessage(1);";
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    await new Promise((resolve) => worker.addEventListener("error", resolve));
    setTimeout(() => {
      throw new Error("of the page");
    });
  });
  await expect.poll(() => lab.complaints.join("\n")).toMatch(/of the page/);
  expect(lab.complaints.splice(0).join("\n")).toMatch(/of the worker/);
});
