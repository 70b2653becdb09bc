import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { runFfmpeg } from "../fixtures/make-clip.ts";
import { makeMalformed, optionsFor } from "../fixtures/malformed.ts";
import { type Rig, startRig } from "../judge/rig.ts";
import { expectFailure, logsWith, SECRET, waitUntilEmpty } from "./check.ts";
import { processesIn } from "./heavy-rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(() => ({}));
}, 180_000);
afterAll(() => rig?.close());
const files = await makeMalformed();

/** Seconds within which every task must have ended, even on a busy machine. */
const SECONDS = 60;
const ERRORS = [
  ...(["input_unsupported", "input_no_video", "input_no_audio"] as const),
  ...(["input_too_large", "probe_failed", "encode_failed", "encode_incomplete"] as const),
];

const ends: Task[] = [];

test.concurrent.for(files.map((file, n) => ({ ...file, n })))("$name", async ({ n }, { expect }) => {
  const file = files[n];
  if (!file) throw new Error("There is no such file.");
  const input = `${rig.origin.serve(`/${n}/${file.clip}`, { file: file.bytes })}?token=${SECRET}`;
  const task = await rig.door.runTask({ input, kind: file.kind, options: optionsFor(file, n) }, SECONDS);
  ends.push(task);
  if (task.status === "failed") {
    expectFailure(task, ERRORS, expect);
    expect(task.error?.retryable).toBe(false);
    return;
  }
  expect(task.status).toBe("succeeded");
  const { path } = await rig.door.fetchFile(task.output ?? "");
  // Encoded tracks must decode without errors; copied sound is only as good as its source.
  await runFfmpeg(["-xerror", "-i", path, "-map", file.kind === "audio" ? "0:a" : "0:v", "-f", "null", "-"]);
});

// Runs last, when all the others have ended.
test("leaves nothing behind, and still encodes a good file", async () => {
  const good = ends.filter(({ status }) => status === "succeeded").length;
  expect(good).toBeGreaterThan(10);
  expect(good).toBeLessThan(70);
  const heavy = { kind: "video", options: { codec: "h265", width: 80 } } as const;
  const { task } = await rig.door.encode({ input: rig.serve(await clip("mp4", { seconds: 1 })), ...heavy });
  expect(task.steps[2]?.output).toMatchObject({ encoder: "native" });
  await waitUntilEmpty(rig);
  expect(processesIn(rig.folder)).toEqual([]);
  const scratch = await readdir(rig.folder, { recursive: true });
  expect(scratch.filter((path) => path.includes("job-"))).toEqual([]);
  expect(await logsWith(rig, SECRET)).toEqual([]);
});
