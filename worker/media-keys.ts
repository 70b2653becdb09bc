/** The folders of a run: its working files, and what it gives out. */
export type MediaFolder = "work" | "out";

/** The prefix of a run's files: `work/<run>/` lasts as long as the run, `out/<run>/` as long as its output is kept. */
export function runFolder(folder: MediaFolder, run_id: string): string {
  return `${folder}/${run_id}/`;
}

/** Removes the files of a run in the folders given. */
export async function clearMedia(bucket: R2Bucket, run_id: string, folders: MediaFolder[]): Promise<void> {
  for (const folder of folders) {
    let page: R2Objects;
    do {
      // Always the first page: what was listed is gone by the next turn.
      page = await bucket.list({ prefix: runFolder(folder, run_id), limit: 1000 });
      if (page.objects.length > 0) await bucket.delete(page.objects.map((object) => object.key));
    } while (page.truncated);
  }
}
