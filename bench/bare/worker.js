import { DurableObject } from "cloudflare:workers";

export { default } from "./worker.ts";

/** The smallest object that responds as that of a task does: one row of its database, returned unchanged. */
export class RowObject extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS row (one INTEGER PRIMARY KEY, record TEXT NOT NULL)");
  }

  write(record) {
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO row VALUES (1, ?)", record);
  }

  read() {
    return this.ctx.storage.sql.exec("SELECT record FROM row").one().record;
  }
}
