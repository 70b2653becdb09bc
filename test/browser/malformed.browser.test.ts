import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewTask } from "../../src/client/client.ts";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { runFfmpeg } from "../fixtures/make-clip.ts";
import { type Malformed, makeMalformed, type Options, optionsFor } from "../fixtures/malformed.ts";
import { expectFailure } from "../inputs/check.ts";
import { type ClientLab, closeKit, openClientLab, openKit } from "./client-rig.ts";

let rig: ClientLab;
let scratch: string;
beforeAll(async () => {
  [rig, scratch] = await Promise.all([openClientLab(), mkdtemp(join(tmpdir(), "framewright-malformed-"))]);
  await openKit(rig.lab.page, { name: "malformed", encoderWorkers: 2 });
});
afterAll(async () => {
  await rig?.close();
  await rm(scratch, { recursive: true, force: true });
});
const files = await makeMalformed();

/** Seconds within which every task must end, even on a busy machine. */
const SECONDS = 90;
// The kinds of errors are those of the service.
const ERRORS = [
  ...(["input_unsupported", "input_no_video", "input_no_audio"] as const),
  ...(["input_too_large", "probe_failed", "encode_failed", "encode_incomplete"] as const),
];
// Formats that the encoder of a wish does not read, even when intact.
const UNREAD: ReadonlySet<string> = new Set(["avi", "flv"]);

// In a page, H.265 needs cross-origin isolation.
function wishHere(file: Malformed, n: number): Options {
  const wish = optionsFor(file, n);
  return wish.codec === "h265" ? { ...wish, codec: "h264" } : wish;
}

/** Runs a task on bytes; returns the record, and the output as base64. */
async function run(name: string, bytes: Uint8Array, wish: Pick<NewTask, "kind" | "options">) {
  const path = await rig.put(name.replaceAll(/\W+/g, "-"), bytes);
  return rig.lab.page.evaluate(
    async ({ path, name, wish }) => {
      const input = await kit.file(path, name);
      const task = await kit.client.tasks.wait(await kit.client.tasks.create({ ...wish, input } as NewTask));
      if (task.status !== "succeeded") return { task, base64: "" };
      const output = await kit.client.output(task);
      return { task, base64: await kit.base64(await output.blob()) };
    },
    { path, name, wish },
  );
}

const ends: Task[] = [];

test.concurrent.for(files.map((file, n) => ({ ...file, n })))("$name", async ({ n }, { expect }) => {
  const file = files[n];
  if (!file) throw new Error("There is no such file.");
  const wish = { kind: file.kind, options: wishHere(file, n) } as Pick<NewTask, "kind" | "options">;
  const began = performance.now();
  const { task, base64 } = await run(`${n}.${file.clip}`, file.bytes, wish);
  expect(performance.now() - began).toBeLessThan(SECONDS * 1000);
  ends.push(task);
  if (task.status === "failed") {
    const kinds = UNREAD.has(file.clip) ? ([...ERRORS, "encoder_unavailable"] as const) : ERRORS;
    expectFailure(task, kinds, expect);
    expect(task.error).toMatchObject({ retryable: false, message: expect.stringMatching(/^[A-Z]/) });
    expect(task.error?.message).not.toMatch(/https?:|opfs:|Something failed/);
    return;
  }
  expect(task.status).toBe("succeeded");
  const path = join(scratch, String(n));
  await writeFile(path, Buffer.from(base64, "base64"));
  // Encoded tracks decode without errors; copied sound may still be damaged.
  await runFfmpeg(["-xerror", "-i", path, "-map", file.kind === "audio" ? "0:a" : "0:v", "-f", "null", "-"]);
});

// Last, after all the others have ended.
test("afterwards a good file still encodes, and no stray worker or stored file is left", async () => {
  const { page, complaints } = rig.lab;
  expect(ends.length).toBe(100);
  const good = ends.filter(({ status }) => status === "succeeded");
  expect(good.length).toBeGreaterThan(10);
  expect(good.length).toBeLessThan(70);
  const { task } = await run("good.wav", await readFile(await clip("wav", { seconds: 1 })), {
    kind: "audio",
    options: { format: "mp3" },
  });
  expect([task.status, task.error]).toEqual(["succeeded", null]);
  // The media worker, and the idle workers that each encoder may keep.
  await expect.poll(() => page.workers().length).toBeLessThanOrEqual(1 + 2 + 2 + 2);
  // Only outputs are stored, until they are deleted.
  const stored = await page.evaluate(() => kit.stored());
  const owners = new Set(stored.map((path) => /^\+out\/\+(task_\w+)\//.exec(path)?.[1]));
  expect(owners).toEqual(new Set([task, ...good].map(({ id }) => id)));
  await page.evaluate(
    async (ids) => {
      for (const id of ids) await kit.client.tasks.delete(id);
    },
    [task, ...good].map(({ id }) => id),
  );
  expect(await page.evaluate(() => kit.stored())).toEqual([]);
  await closeKit(page);
  // mediabunny logs which of its reads failed.
  expect(complaints.filter((each) => !each.startsWith("Error deserializing"))).toEqual([]);
});
