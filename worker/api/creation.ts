import type { Context, Handler } from "hono";
import { IDEMPOTENCY_KEY_MAX, type IdType } from "../../src/runs/ids.ts";
import { toHex } from "../../src/util/bytes.ts";
import { digest } from "../auth/key-ring.ts";
import type { Seal } from "../connections/seal.ts";
import * as errors from "../errors.ts";
import { readBytes } from "../http/body.ts";
import type { ApiEnv } from "../http/context.ts";
import { isRefusal } from "../http/errors.ts";
import { countCreation } from "../limits/limits.ts";
import type { Services } from "../services.ts";

/** How a route creates a record. */
export interface Creation<T> {
  sort: IdType;
  /** Creates the record with that id from the request. */
  create(request: Request, c: Context<ApiEnv>, id: string): Promise<T>;
  /** Returns the record with that id, if it exists. */
  find(project: string, id: string): Promise<T | null>;
  /** Encrypts the stored answer, for records with a secret. */
  seal?: Seal;
  /** Returns the part of the record to store as the answer to a repeated request. Defaults to the whole record. */
  stored?(record: T): unknown;
}

/**
 * Builds the handler of a route that creates: 201 with the record. With an `Idempotency-Key`, the same request gets the first record again
 * for a day, with 200. Throws `idempotency_mismatch` for another request with that key, `idempotency_conflict` while the first one is running.
 */
export function creationHandler<T>(services: Services, creation: Creation<T>): Handler<ApiEnv> {
  const { idempotency, id, now, limits } = services;
  const { sort, find, seal, stored = (record) => record } = creation;

  function create(request: Request, c: Context<ApiEnv>, record_id: string): Promise<T> {
    c.set("subject", record_id);
    countCreation(c, limits);
    return creation.create(request, c, record_id);
  }

  async function createOnce(c: Context<ApiEnv>, key: string): Promise<Response> {
    const project = c.get("project");
    const { method, url, headers } = c.req.raw;
    const bytes = await readBytes(c.req.raw);
    const content = `${method} ${new URL(url).pathname}\n${new TextDecoder().decode(bytes)}`;
    const attempt = await idempotency.begin(project, key, toHex(await digest(content)), id(sort, now()));
    if (attempt.state === "running") throw errors.idempotencyConflict();
    if (attempt.state === "other") throw errors.idempotencyMismatch();
    const owner = `${project}/idempotency/${key}`;
    if (attempt.state === "done") {
      const answer = seal ? await seal.open(attempt.answer, owner) : attempt.answer;
      return c.json(JSON.parse(answer) as object, 200);
    }
    try {
      const body = bytes.length > 0 ? bytes : null;
      const earlier = attempt.state === "again" ? await find(project, attempt.id) : null;
      const record = earlier ?? (await create(new Request(url, { method, headers, body }), c, attempt.id));
      const answer = JSON.stringify(stored(record));
      await idempotency.end(project, key, { answer: seal ? await seal.seal(answer, owner) : answer });
      return c.json(record as object, 201);
    } catch (thrown) {
      await idempotency.end(project, key, isRefusal(thrown) ? "refused" : "lost");
      throw thrown;
    }
  }

  return async (c) => {
    const key = c.req.header("Idempotency-Key");
    if (key === undefined) return c.json((await create(c.req.raw, c, id(sort, now()))) as object, 201);
    if (!/^[\x21-\x7e]+$/.test(key) || key.length > IDEMPOTENCY_KEY_MAX)
      throw errors.idempotencyKeyMalformed();
    return createOnce(c, key);
  };
}
