import type { JobHead } from "../../src/runs/job.ts";
import type { Archive } from "../run/archive.ts";
import type { JobState } from "./job-state.ts";

/** What is stored of a job: the rest is in its tasks. */
export interface KnownJob {
  head: JobHead;
  /** Ids. */
  tasks: string[];
}

/** The jobs of a project that are too old for its list, each a file in the archive of their tasks. */
export function createJobArchive(archive: Archive) {
  return {
    /** Writes a job, unless it was deleted meanwhile. */
    async write({ head, tasks }: Pick<JobState, "head" | "tasks">, isThere: () => boolean): Promise<void> {
      const known: KnownJob = { head, tasks: tasks.map((task) => task.id) };
      await archive.write("job", [{ id: head.id, json: JSON.stringify({ id: head.id, ...known }) }], "");
      if (!isThere()) await archive.remove("job", head.id);
    },
    async get(id: string): Promise<KnownJob | null> {
      const json = await archive.get("job", id);
      return json === null ? null : JSON.parse(json);
    },
    remove: (id: string) => archive.remove("job", id),
  };
}
