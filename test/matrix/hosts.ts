import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type ClientLab, encodeInPage, openClientLab, openKit } from "../browser/client-rig.ts";
import { openRig, type Rig } from "../judge/rig.ts";

/** An output on disk, and the encoder that made it. */
export interface Encoded {
  path: string;
  encoder: string | undefined;
}

/** Makes an output of a local file through the front door of a host. */
export type Encode = (
  kind: "video" | "audio" | "image" | "animation",
  input: string,
  options: object,
) => Promise<Encoded>;

/** Borrows one service for the tests of a `describe` block. */
export function useService(): { encode: Encode; rig: () => Rig } {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig?.close());
  return {
    rig: () => rig,
    async encode(kind, input, options) {
      const { path, task } = await rig.door.encode({
        input: rig.serve(input),
        kind,
        options: options as Record<string, unknown>,
      });
      return { path, encoder: task.steps[2]?.output?.encoder };
    },
  };
}

/** Opens one page with one client for the tests of a `describe` block. */
export function usePage(name: string): { encode: Encode } {
  let page: ClientLab;
  let folder: string;
  beforeAll(async () => {
    [page, folder] = await Promise.all([openClientLab(), mkdtemp(join(tmpdir(), `framewright-${name}-`))]);
    await openKit(page.lab.page, { name });
  });
  afterAll(async () => {
    await page?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });
  let outputs = 0;
  return {
    async encode(kind, input, options) {
      const path = join(folder, `output-${outputs++}`);
      return { path, encoder: await encodeInPage(page, { input, kind, options }, path) };
    },
  };
}
