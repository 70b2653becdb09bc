import { MediaError } from "../../src/media/errors.ts";
import type { Connection, ConnectionChange, Reencryption } from "../../src/runs/connection.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import { errors } from "../errors.ts";
import type { Remote } from "../network/remote.ts";
import type { Seal } from "./seal.ts";
import type { ConnectionTable, SealedConnection } from "./table.ts";

/** Stored connections, each in its project. Ids of other projects are unknown. */
export interface Connections {
  create(project: string, connection: Connection, secret: string): Promise<Connection>;
  list(project: string, query: ListQuery): Promise<ListPage<Connection>>;
  get(project: string, id: string): Promise<Connection | null>;
  /** Returns the default connection; null when there are none. */
  getDefault(project: string): Promise<Connection | null>;
  /** Changes a connection; rejects with `connection_not_found`. */
  change(project: string, id: string, change: ConnectionChange): Promise<Connection>;
  /** Removes a connection with its secret; rejects with `connection_not_found`, or `connection_in_use` while a run uses it. */
  remove(project: string, id: string): Promise<void>;
  /** Seals every secret with the newest key, so that older keys can be removed. */
  reencrypt(project: string): Promise<Omit<Reencryption, "webhook_secrets">>;
  /** Reserves a connection, by default the default one, for a run about to be created; false when there is none. */
  reserve(project: string, run_id: string, wanted?: string): Promise<boolean>;
  /** Returns a connection with its secret, to reach its storage; rejects with `connection_not_found`. */
  open(project: string, id: string): Promise<OpenConnection>;
  /** Returns the connection reserved for a run, with its secret; null when it was removed. */
  openOf(project: string, run_id: string): Promise<OpenConnection | null>;
}

/** A connection with its secret: never log, store or return it. */
export interface OpenConnection extends Connection {
  secret_access_key: string;
}

/** The object of a project, as far as it keeps connections. */
export interface ConnectionHome {
  readonly connections: Remote<ConnectionTable>;
}

/** Creates the connections over the objects of their projects; each secret is sealed here, for its own record alone. */
export function createConnections(home: (project: string) => ConnectionHome, seal: Seal): Connections {
  const table = (project: string) => home(project).connections;
  const owner = (project: string, id: string) => `${project}/${id}`;

  async function unseal(project: string, { connection, sealed }: SealedConnection): Promise<OpenConnection> {
    const secret = await seal.open(sealed, owner(project, connection.id)).catch((cause: unknown) => {
      throw errors.connectionUnreadable({ cause });
    });
    // A secret sealed with an older key is resealed with the newest on its next use.
    if (!(await seal.isCurrent(sealed))) {
      const resealed = await seal.seal(secret, owner(project, connection.id));
      await table(project).reseal(connection.id, sealed, resealed);
    }
    return { ...connection, secret_access_key: secret };
  }

  async function find(project: string, id: string): Promise<SealedConnection> {
    const found = await table(project).get(id);
    if (!found) throw errors.notFound("connection");
    return found;
  }

  async function* all(project: string): AsyncGenerator<Connection> {
    for (let after: string | undefined; ; ) {
      const page = await table(project).list({ limit: 100, order: "asc", ...(after && { after }) });
      yield* page.records;
      after = page.records.at(-1)?.id;
      if (!page.more) return;
    }
  }

  return {
    async create(project, connection, secret) {
      const sealed = await seal.seal(secret, owner(project, connection.id));
      return table(project).add({ connection, sealed });
    },
    list: (project, query) => table(project).list(query),
    async get(project, id) {
      return (await table(project).get(id))?.connection ?? null;
    },
    async getDefault(project) {
      return (await table(project).getDefault())?.connection ?? null;
    },
    async change(project, id, { secret_access_key: secret, ...change }) {
      const sealed = secret === undefined ? null : await seal.seal(secret, owner(project, id));
      const changed = await table(project).change(id, change, sealed);
      if (!changed) throw errors.notFound("connection");
      return changed;
    },
    async remove(project, id) {
      const answer = await table(project).remove(id);
      if (answer === "unknown") throw errors.notFound("connection");
      if (answer === "in_use") throw errors.connectionInUse();
    },
    async reencrypt(project) {
      const result: Omit<Reencryption, "webhook_secrets"> = {
        ...{ object: "reencryption", connections: 0, reencrypted: 0, failed: [] },
      };
      for await (const { id } of all(project)) {
        const found = await table(project).get(id);
        if (!found) continue;
        result.connections++;
        if (await seal.isCurrent(found.sealed)) continue;
        const opened = await unseal(project, found).catch((thrown: unknown) => {
          if (thrown instanceof MediaError && !thrown.retryable) return null;
          throw thrown;
        });
        if (opened) result.reencrypted++;
        else result.failed.push(id);
      }
      return result;
    },
    async reserve(project, run_id, wanted) {
      return (await table(project).reserve(run_id, wanted ?? null)) !== null;
    },
    open: async (project, id) => unseal(project, await find(project, id)),
    async openOf(project, run_id) {
      const found = await table(project).of(run_id);
      return found && unseal(project, found);
    },
  };
}
