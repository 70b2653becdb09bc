import { expect, test } from "vitest";
import { createConnections } from "../../src/browser/connections.ts";
import { createInputFiles, createLocalUrls } from "../../src/browser/media-worker/local-files.ts";
import { createRunUploads } from "../../src/browser/media-worker/run-upload.ts";
import { createRunWork } from "../../src/browser/media-worker/run-work.ts";
import { createIds } from "../../src/runs/ids.ts";
import type { StepContext } from "../../src/runs/ports.ts";
import type { TaskRequest } from "../../src/runs/requests.ts";
import { sourceKey } from "../../src/runs/steps/media-keys.ts";
import { createTask } from "../../src/runs/task.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { videoSource } from "../plan/source.ts";

test("an input that another output of the job has copied takes no more room", async () => {
  const none = async () => null;
  const nothing = async () => {};
  const unused = () => {
    throw new Error("It is not needed.");
  };
  const rooms: number[] = [];
  const storage = {
    ...createMemoryStorage(),
    ...{ file: none, files: async () => [], ensureRoom: async (bytes: number) => void rooms.push(bytes) },
  };
  const pieces = { get: none, put: nothing, runs: async () => [], clear: nothing };
  const connections = createConnections([], unused);
  const source = videoSource({ filesize: 5 });
  const request: TaskRequest = { input: source.url, kind: "audio", options: {}, metadata: {} };
  const task = { ...createTask(request, createIds(Math.random), 1), job: { id: "job_a" } };
  const shared = {
    id: "job_a",
    withLock: async (work: (known: { source: typeof source; whole: true }) => Promise<never>) =>
      work({ source, whole: true }),
    keep: nothing,
  };
  const rows = { get: none, all: async () => [], put: nothing, delete: nothing };
  const work = await createRunWork(
    {
      ...{ storage, pieces, connections, encoders: [], inFlight: () => 1, probe: unused, font: unused },
      ...{ files: createInputFiles(rows, 0), urls: createLocalUrls("room"), shared: () => shared as never },
      uploads: createRunUploads(connections, storage, pieces),
      offers: async () => [
        { encoder: "any", refusal: null, chunk_seconds: null, chunks: 1, at_once: 1, seconds: 1 },
      ],
    },
    task,
  );
  const context: StepContext = {
    ...{ run_id: task.id, step: task.steps[1] as never, progress: nothing, reportChoice: nothing },
    durably: async (_, make) => make(new AbortController().signal),
  };
  await storage.write(sourceKey("job_a"), new Uint8Array(5), "video/mp4");
  const url = `opfs:/room/${sourceKey("job_a")}`;
  expect(await work?.ingest(source, context)).toMatchObject({ url, filesize: 5 });
  expect(rooms).toEqual([]);
});
