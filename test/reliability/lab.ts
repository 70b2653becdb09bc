import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Task } from "../../src/runs/task.ts";
import { dataOf, type Service, startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";
import { type StoredObject, storedMedia } from "../fixtures/stored-media.ts";
import { type FrontDoor, openFrontDoor } from "../judge/front-door.ts";

/** A local service that can be killed and restarted on its state, always at the same address. */
export interface Lab {
  door: FrontDoor;
  url: string;
  /** Headers of a request with a valid key. */
  headers: Record<string, string>;
  /** The folder of the service's state. */
  folder: string;
  /** The running processes of the service, or of one of its programs. */
  pids: Service["pids"];
  /** Kills every process of the service at once, like a power cut. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /**
   * Kills the service the moment a task's record on disk passes the check; returns that record, or null if
   * the task ended first. Blocks this process meanwhile.
   */
  crashWhen(id: string, check: (task: Task) => boolean): Promise<Task | null>;
  /** Returns a run's state in the queues as it is on disk; undefined before it is there. */
  turn(id: string): string | undefined;
  /** Lists stored objects by key; reads the files on disk, whether the service runs or not. */
  stored(): StoredObject[];
  close(): Promise<void>;
}

const KEY = "lab-key";

// Systems hand out higher ports, so no other program takes this one while the service is killed.
async function ownPort(): Promise<string> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer().listen(port, "127.0.0.1");
    const free = await once(server, "listening").then(
      () => true,
      () => false,
    );
    server.close();
    if (free) return String(port);
  }
}

/** Starts a local service with native encoders and further settings, to test what it survives. */
export async function startLab({ native = 1, more = {} } = {}): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-lab-"));
  const env = { API_KEYS: KEY, STATE_DIR: folder, WATCH_SECONDS: "2", ...NO_LIMITS, ...more };
  const start = (port: string) => startService({ ...parseSettings({ ...env, PORT: port }), native });
  let service: Service = await start(await ownPort());
  const { url } = service;
  const door = openFrontDoor(url, KEY);
  const runs = join(dataOf({ state_dir: folder }), "v3", "do", "framewright-TaskObject");
  return {
    door,
    url,
    headers: { Authorization: `Bearer ${KEY}` },
    folder,
    pids: (program) => service.pids(program),
    crash: () => service.kill("SIGKILL"),
    async restart() {
      service = await start(new URL(url).port);
    },
    async crashWhen(id, check) {
      const databases = openDatabases(runs);
      try {
        const records = databases.map((database) => database.prepare("SELECT record FROM run"));
        const read = (select: (typeof records)[number]): Task => JSON.parse(String(select.get()?.record));
        const own = records.find((select) => read(select).id === id);
        if (!own) throw new Error(`${id} is not on disk.`);
        let task = read(own);
        while (!check(task)) {
          if (task.finished_at !== null) return null;
          task = read(own);
        }
        await service.kill("SIGKILL");
        return task;
      } finally {
        for (const database of databases) database.close();
      }
    },
    turn(id) {
      for (const database of openDatabases(runs)) {
        try {
          const [row] = database
            .prepare(
              "SELECT json_extract(record, '$.id') AS id, turn FROM run JOIN turn ON turn.one = run.one",
            )
            .all();
          if (row?.id === id) return String(row.turn);
        } catch {
          // The tables do not exist yet.
        } finally {
          database.close();
        }
      }
      return undefined;
    },
    stored: () => storedMedia(folder),
    async close() {
      await Promise.all([service.stop(), door.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Opens the SQLite databases in a folder of the local service's state, one per Durable Object, to read them
 * even while it writes.
 */
function openDatabases(folder: string): DatabaseSync[] {
  const names = readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  // A writer locks the file for a moment.
  return names.map((name) => new DatabaseSync(join(folder, name), { readOnly: true, timeout: 10_000 }));
}
