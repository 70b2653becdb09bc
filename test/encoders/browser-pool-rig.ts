import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { EncodeKind } from "../../src/media/formats.ts";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { type Lab, type LabOptions, openLab } from "../browser/lab.ts";
import type { PoolResult, PoolTask } from "../browser/pool.page.ts";
import { CLIP_FOLDER, makeClip } from "../fixtures/make-clip.ts";

/** A page with the core, files for it, and a fresh pool before each test. */
export interface PoolRig {
  readonly lab: Lab;
  /** The folder that is served at `/files/`. */
  readonly home: string;
  /** Serves a file to the page and returns its URL. */
  serve(path: string): Promise<string>;
  /** Encodes in the page and writes the output into a folder. */
  encode<K extends EncodeKind>(path: string, task: Omit<PoolTask<K>, "clip">): Promise<EncodedInPage>;
}

/** An encode's result and where its files were written. */
export interface EncodedInPage extends PoolResult {
  folder: string;
  /** The main file. */
  path: string;
}

/** Sets up a rig for the tests of a file; its fields are available once tests run. */
export function usePool(options: LabOptions = {}): PoolRig {
  let lab: Lab;
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "framewright-pool-"));
    await mkdir(CLIP_FOLDER, { recursive: true });
    await buildCore(join(CLIP_FOLDER, "core"));
    await symlink(join(CLIP_FOLDER, "core"), join(home, "core"));
    lab = await openLab({ ...options, files: home });
  });
  afterAll(async () => {
    await lab?.close();
    await rm(home, { recursive: true, force: true });
  });
  beforeEach(() =>
    lab.page.evaluate(async () => {
      const page = await import("../browser/pool.page.ts");
      page.openPool();
    }),
  );
  afterEach(() => {
    expect(lab.complaints.splice(0)).toEqual([]);
  });

  return {
    get lab() {
      return lab;
    },
    get home() {
      return home;
    },
    async serve(path) {
      const name = basename(path);
      await symlink(path, join(home, name)).catch(() => {});
      return `/files/${name}`;
    },
    async encode(path, task) {
      const clip = await this.serve(path);
      const result: PoolResult = await lab.page.evaluate(
        async (poolTask) => {
          const { encodeInPool } = await import("../browser/pool.page.ts");
          return encodeInPool(poolTask);
        },
        { ...task, clip } as PoolTask,
      );
      const folder = await mkdtemp(join(home, "out-"));
      for (const { name, base64 } of result.files) {
        const parts = name.split("/").slice(0, -1);
        await mkdir(join(folder, ...parts), { recursive: true });
        await writeFile(join(folder, name), Buffer.from(base64, "base64"));
      }
      return { ...result, folder, path: join(folder, result.main) };
    },
  };
}

/** Returns whether no value is smaller than the one before. */
export function rises(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
}

/** Makes half a minute of video, which keeps two workers busy for a while. */
export function longClip(): Promise<string> {
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=30"],
    ...["-f", "lavfi", "-i", "sine=frequency=440:duration=30"],
    ..."-c:v libx264 -preset ultrafast -crf 30 -pix_fmt yuv420p -g 50 -c:a aac -shortest".split(" "),
  ]);
}
