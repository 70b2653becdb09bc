import type { Storage } from "../ports.ts";

/** The folders of a run: working files and output. */
export type MediaFolder = "work" | "out";

/**
 * Returns the key prefix of a run's files: `work/<run>/` lasts as long as the run, `out/<run>/` as long as its output is
 * kept.
 */
export function runFolder(folder: MediaFolder, run_id: string): string {
  return `${folder}/${run_id}/`;
}

/** Returns the key of a run's input, which is a copy or a pinned file. */
export function sourceKey(run_id: string): string {
  return `${runFolder("work", run_id)}source`;
}

/** Returns the key of the copy of a run's extra input. */
export function extraInputKey(run_id: string, index: number): string {
  return `${runFolder("work", run_id)}further/${index}`;
}

export function runOf(key: string): string {
  return key.split("/")[1] ?? "";
}

export async function clearMedia(
  storage: Storage,
  run_id: string,
  folders: readonly MediaFolder[],
): Promise<void> {
  for (const folder of folders) await storage.clear(runFolder(folder, run_id));
}
