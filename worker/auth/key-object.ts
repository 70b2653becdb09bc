import { DurableObject } from "cloudflare:workers";
import { toTarget } from "../network/rpc-target.ts";
import { createKeyTable } from "./key-table.ts";
import { createProjectDirectory } from "./project-directory.ts";

/**
 * The keys of one project. They are apart from its records, so that a busy or full project still authenticates, and a forged key
 * creates no index. Every look-up and every change of a key comes here, in one transaction each, so a revocation holds everywhere.
 * One more object lists the names of all projects.
 */
export class KeyObject extends DurableObject<Bindings> {
  // RPC offers getters, not fields.
  readonly #keys = toTarget(createKeyTable(this.ctx.storage.sql));
  readonly #projects = toTarget(createProjectDirectory(this.ctx.storage.sql));

  /** The keys. */
  get keys() {
    return this.#keys;
  }

  /** The names of all projects; in one object alone. */
  get projects() {
    return this.#projects;
  }
}
