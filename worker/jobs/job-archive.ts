import type { JobHead } from "../../src/core/jobs/job.ts";
import { mediaBucket } from "../network/media-bucket.ts";
import { createArchive } from "../run/archive.ts";
import { mayBeArchived } from "../run/engine.ts";
import type { JobState } from "./job-state.ts";

/** What is stored of a job: the rest is in its tasks. */
export interface KnownJob {
  head: JobHead;
  /** Ids. */
  tasks: string[];
}

/** The jobs of a project that are too old for its list, each a file beside those of its tasks. */
export function createJobArchive(env: Bindings, project: string) {
  const archive = createArchive(mediaBucket(env), project);
  return {
    async write({ head, tasks }: Pick<JobState, "head" | "tasks">): Promise<void> {
      const known: KnownJob = { head, tasks: tasks.map((task) => task.id) };
      await archive.write("job", [{ id: head.id, json: JSON.stringify({ id: head.id, ...known }) }], "");
    },
    async get(id: string): Promise<KnownJob | null> {
      const json = mayBeArchived(env, "job", id) ? await archive.get("job", id) : null;
      return json === null ? null : JSON.parse(json);
    },
    async remove(id: string): Promise<void> {
      if (mayBeArchived(env, "job", id)) await archive.remove("job", id);
    },
  };
}
