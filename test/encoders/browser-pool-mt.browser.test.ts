import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { type Lab, openLab } from "../browser/lab.ts";
import { clip } from "../fixtures/clips.ts";
import { CLIP_FOLDER } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";

// The threaded core is an optional dependency.
const threaded = await findThreaded();
let lab: Lab;
let home: string;
let film: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "framewright-mt-"));
  await buildCore(join(CLIP_FOLDER, "core"));
  await symlink(join(CLIP_FOLDER, "core"), join(home, "core"));
  if (threaded) await symlink(threaded, join(home, "mt"));
  film = await clip("mp4", { size: "320x180", seconds: 2 });
  await symlink(film, join(home, "film.mp4"));
  lab = await openLab({ files: home, isolated: true });
});
afterAll(async () => {
  await lab?.close();
  await rm(home, { recursive: true, force: true });
});
afterEach(() => {
  // Threads that are terminated while they start log empty errors.
  expect(lab.complaints.splice(0).filter((text) => text !== "")).toEqual([]);
});

function ask(from: Lab) {
  return from.page.evaluate(async () => {
    const { askMt } = await import("../browser/pool-mt.page.ts");
    return askMt("/files/film.mp4");
  });
}

function encode(cancel: boolean) {
  return lab.page.evaluate(async (cancel) => {
    const { encodeMt } = await import("../browser/pool-mt.page.ts");
    return encodeMt("/files/film.mp4", cancel);
  }, cancel);
}

test("accepts only h265, and only in an isolated page", async () => {
  expect(await ask(lab)).toEqual([
    { code: "not_configured" },
    { code: "other_work" },
    null,
    { code: "memory", needed_bytes: expect.any(Number), available_bytes: 2 ** 30 },
  ]);
  const open = await openLab({ files: home });
  try {
    expect((await ask(open))[2]).toEqual({ code: "not_isolated" });
  } finally {
    await open.close();
  }
});

test.skipIf(!threaded)("encodes h265 in threads with rising progress", async () => {
  const { error, bytes, shares } = await encode(false);
  expect(error).toBeNull();
  const path = join(home, "out.mp4");
  await writeFile(path, Uint8Array.from(bytes));
  expect(await readFacts(path)).toMatchObject({
    picture: { codec: "hevc", width: 160, height: 90 },
    sound: { codec: "aac" },
  });
  expect((await measureLikeness(path, film, { filter: "scale=160:90" })).mean).toBeGreaterThan(LIKE);
  expect(shares.length).toBeGreaterThan(1);
  for (const [index, share] of shares.entries()) {
    expect(share).toBeGreaterThanOrEqual(shares[index - 1] ?? 0);
    expect(share).toBeLessThanOrEqual(1);
  }
});

test.skipIf(!threaded)("a cancel rejects and ends all threads", async () => {
  for (let times = 0; times < 3; times++) expect((await encode(true)).error).toBe("enough");
  // Only the worker that probed the file remains.
  await expect.poll(() => lab.page.workers().length, { timeout: 20_000 }).toBe(1);
});

function startSlowly(slowness: { ms: number; silenceSeconds: number; cancelMs: number | null }) {
  return lab.page.evaluate(async (slowness) => {
    const { startSlowly } = await import("../browser/pool-mt.page.ts");
    return startSlowly("/files/film.mp4", slowness);
  }, slowness);
}

test.skipIf(!threaded)("a start may take longer than a silence, as long as threads load", async () => {
  const { end, shares } = await startSlowly({ ms: 300, silenceSeconds: 4, cancelMs: null });
  expect(end).toBe("done");
  // It is seen to work from its first thread on.
  expect(shares[0]).toBe(0);
});

test.skipIf(!threaded)("a cancel while the threads load ends them without an uncaught error", async () => {
  expect((await startSlowly({ ms: 60, silenceSeconds: 30, cancelMs: 1200 })).end).toBe("enough");
  await expect.poll(() => lab.page.workers().length, { timeout: 20_000 }).toBe(1);
});

const BROKEN = [
  ["trap", 2, ["encode_failed", "The threaded encoder crashed on this file."], 2],
  ["deadlock", 1, "done", 2],
  ["no memory", 1, ["out_of_memory", "The browser has no memory left for the encoder."], 1],
] as const;

test.skipIf(!threaded).for(BROKEN)(
  "detects %s in the cores of %i workers and retries once in a fresh worker if it may help",
  async (row) => {
    const [how, count, end, workers] = row;
    const seen = await lab.page.evaluate(
      async ([how, workers]) => {
        const { harmMt } = await import("../browser/pool-mt.page.ts");
        return harmMt("/files/film.mp4", { how, workers });
      },
      [how, count] as const,
    );
    expect(seen).toEqual({ end, workers });
  },
);

async function findThreaded(): Promise<string | null> {
  try {
    return join(dirname(createRequire(import.meta.url).resolve("@ffmpeg/core-mt")), "..", "esm");
  } catch {
    return null;
  }
}
