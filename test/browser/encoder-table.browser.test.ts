import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { clip } from "../fixtures/clips.ts";
import { CLIP_FOLDER } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { measureLoudness } from "../judge/loudness.ts";
import { probe } from "../probe/probe-file.ts";
import { ENCODERS, type EncoderName, ROWS, type Row, YES } from "./encoder-rows.ts";
import { type Lab, openLab } from "./lab.ts";

let lab: Lab;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "framewright-table-"));
  await buildCore(join(CLIP_FOLDER, "core"));
  await symlink(join(CLIP_FOLDER, "core"), join(home, "core"));
  const threaded = createRequire(import.meta.url).resolve("@ffmpeg/core-mt");
  await symlink(join(dirname(threaded), "..", "esm"), join(home, "mt"));
  lab = await openLab({ files: home, isolated: true });
});
afterAll(async () => {
  await lab?.close();
  await rm(home, { recursive: true, force: true });
});

test("the page has exactly these encoders", async () => {
  const names = await lab.page.evaluate(async () => {
    const { encoderNames } = await import("./encoder-table.page.ts");
    return encoderNames();
  });
  expect(names.toSorted()).toEqual([...ENCODERS].toSorted());
});

// A row of each encoder.
const SMOKE = new Set([
  "h264 in mp4",
  "h265 in mp4",
  "the same pictures in another container",
  "jpeg",
  "avif",
]);

for (const row of ROWS) {
  test(row.name, { tags: SMOKE.has(row.name) ? "smoke" : [] }, () => fillRow(row));
}

async function fillRow({ name, kind, options, expected, cells, chunk_seconds, ...row }: Row): Promise<void> {
  const path = await clip(row.clip, { size: "320x180", seconds: 2 });
  const serve = async (file: string) => {
    await symlink(file, join(home, basename(file))).catch(() => {});
    return { clip: `/files/${basename(file)}`, source: await probe(file) };
  };
  const more = await row.extra?.();
  const cell = {
    ...(await serve(path)),
    ...(more && { extra: [await serve(more)] }),
    kind,
    options,
    ...(chunk_seconds && { chunk_seconds }),
  };
  const table: Partial<Record<EncoderName, string | null>> = {};
  for (const encoder of ENCODERS) {
    const answer = await lab.page.evaluate(
      async (cell) => {
        const { fillCell } = await import("./encoder-table.page.ts");
        return fillCell(cell as Parameters<typeof fillCell>[0]);
      },
      { ...cell, encoder },
    );
    table[encoder] = "refusal" in answer ? answer.refusal : YES;
    if ("refusal" in answer) continue;
    const folder = join(home, "out", `${name} ${encoder}`);
    for (const file of answer.files) {
      await mkdir(dirname(join(folder, file.name)), { recursive: true });
      await writeFile(join(folder, file.name), Buffer.from(file.base64, "base64"));
    }
    const file = join(folder, expected.file ?? answer.main);
    const { picture, sound, duration } = await readFacts(file);
    const what = `${name} by ${encoder}`;
    expect([picture?.codec, sound?.codec], what).toEqual([expected.picture, expected.sound]);
    if (expected.width) {
      expect([picture?.width, picture?.height], what).toEqual([expected.width, (expected.width * 9) / 16]);
    }
    if (expected.like) {
      const { worst } = await measureLikeness(file, path, {
        ...{ filter: expected.like, output_filter: expected.frames ? "null" : "trim=end_frame=1" },
      });
      expect(worst, what).toBeGreaterThan(0.9);
    }
    if (expected.loudness) {
      const { integrated } = await measureLoudness(file);
      expect(Math.abs(integrated - expected.loudness), `${what}: ${integrated} LUFS`).toBeLessThan(0.5);
    }
    if (expected.bytes) {
      const { bytes } = await readFacts(file);
      expect(bytes, what).toBeLessThanOrEqual(expected.bytes);
      expect(bytes / expected.bytes, what).toBeGreaterThan(0.75);
      const { mean } = await measureLikeness(file, path, {
        filter: `scale=${picture?.width}:${picture?.height}`,
      });
      expect(mean, what).toBeGreaterThan(0.85);
    }
    // The duration of raw AAC is only a guess.
    const { duration: seconds = 2, frames } = expected;
    if (!expected.still && expected.sound !== "aac")
      expect(Math.abs(duration - seconds), what).toBeLessThan(0.1);
    if (picture && !expected.still) expect(Math.abs(picture.duration - seconds), what).toBeLessThan(0.1);
    if (frames) expect(picture?.times.length, what).toBe(frames);
  }
  expect(table).toEqual(Object.fromEntries(ENCODERS.map((encoder, index) => [encoder, cells[index]])));
}

test("the page logs no errors", () => {
  expect(lab.complaints).toEqual([]);
});
