import { waitUntil } from "cloudflare:workers";
import { isId } from "../../src/runs/ids.ts";
import type { Storage } from "../../src/runs/ports.ts";
import { runFolder, runOf, sourceKey } from "../../src/runs/steps/media-keys.ts";
import { createExtents, createPinnedStorage, type FetchTurns, type Pin } from "../../src/storage/pinned.ts";
import { toBase64Url } from "../../src/util/bytes.ts";
import { type Env, mediaBucket } from "../env.ts";
import { STAY_MS } from "../jobs/job-input.ts";
import type { Signer } from "../media/signer.ts";
import { createR2Objects } from "../network/r2-objects.ts";
import { createR2Storage } from "../network/r2-storage.ts";
import { patiently } from "../network/retry-object-call.ts";
import { createInputs } from "./inputs.ts";

/**
 * Creates the managed storage with the pinned sources of runs that go on, at the keys that copies would have. What is read of
 * them is kept in the run's folder. It remembers what it found, so a new one is due for every request or run.
 */
export function createPinnedMedia(env: Env, signer: Signer): Storage {
  const bucket = mediaBucket(env);
  const storage = createR2Storage(bucket);
  const objects = createR2Objects(bucket);
  return createPinnedStorage(storage, {
    async find(key) {
      const run_id = runOf(key);
      if (key !== sourceKey(run_id)) return null;
      // An object keeps it: into the run's folder, an encoder may write.
      const keeper = () => (isId("job", run_id) ? env.JOB.getByName(run_id) : env.TASK.getByName(run_id));
      const found = await patiently(() => keeper().pin.get());
      if (found === null) return null;
      const { project, base, pin } = found;
      const inputs = createInputs(env, { project, run_id, base }, storage, signer);
      return {
        pin,
        extents: createExtents(objects, extentsFolder(run_id, pin)),
        open: (range) => inputs.openPinned(pin, range),
        turns: isId("job", run_id) ? fetchTurns(env, run_id) : undefined,
      };
    },
    later: waitUntil,
  });
}

// The tasks of a job read one input side by side.
function fetchTurns(env: Env, job_id: string): FetchTurns {
  const fetches = () => env.JOB.getByName(job_id).fetches;
  return {
    async take(range) {
      const number = await patiently(() => fetches().take(range));
      if (number === null) return null;
      const staying = setInterval(
        () =>
          void fetches()
            .stay(number)
            .catch(() => {}),
        STAY_MS,
      );
      return async () => {
        clearInterval(staying);
        await fetches()
          .leave(number)
          .catch(() => {});
      };
    },
  };
}

// What was read of one version is never taken for a part of another.
function extentsFolder(run_id: string, { etag, size }: Pin): string {
  return `${runFolder("work", run_id)}extents/${toBase64Url(new TextEncoder().encode(etag))}-${size}/`;
}
