import type { Context, Handler } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import type { IdSort } from "../../src/core/ids.ts";
import { toHex } from "../../src/util/bytes.ts";
import { digest } from "../auth/keys.ts";
import type { Seal } from "../connections/seal.ts";
import { readBytes } from "../http/body.ts";
import type { ApiEnv } from "../http/context.ts";
import { isRefusal } from "../http/errors.ts";
import { countCreation } from "../limits/enforce.ts";
import type { Services } from "../services.ts";

/** How a route makes a record. */
export interface Creating<T> {
  sort: IdSort;
  /** Makes the record of that id from the request. */
  make(request: Request, c: Context<ApiEnv>, id: string): Promise<T>;
  /** Returns the record of that id, if it exists. */
  find(project: string, id: string): Promise<T | null>;
  /** Encrypts the answer that is kept, for one that holds a secret. */
  seal?: Seal;
  /** What of the record may be kept for a repeated answer; default all. */
  keep?(record: T): unknown;
}

/**
 * Builds the handler of a route that creates: 201 with the record. With an `Idempotency-Key` the same request is answered with the first
 * record again and 200, for a day; another request under that key is `idempotency_mismatch`, and one that is still answered `idempotency_conflict`.
 */
export function creating<T>(
  services: Services,
  { sort, make, find, seal, keep = (record) => record }: Creating<T>,
): Handler<ApiEnv> {
  const { idempotency, id, now, limits } = services;
  const makeAs = (request: Request, c: Context<ApiEnv>, made_id: string) => {
    c.set("subject", made_id);
    countCreation(c, limits);
    return make(request, c, made_id);
  };

  async function once(c: Context<ApiEnv>, key: string): Promise<Response> {
    const project = c.get("project");
    const { method, url, headers } = c.req.raw;
    const bytes = await readBytes(c.req.raw);
    const asked = `${method} ${new URL(url).pathname}\n${new TextDecoder().decode(bytes)}`;
    const begun = await idempotency.begin(project, key, toHex(await digest(asked)), id(sort, now()));
    if (begun.state === "running")
      throw new MediaError(
        "idempotency_conflict",
        "A request with this Idempotency-Key is still being answered.",
      );
    if (begun.state === "other")
      throw new MediaError("idempotency_mismatch", "This Idempotency-Key was used with another request.");
    const owner = `${project}/idempotency/${key}`;
    if (begun.state === "done") {
      const answer = seal ? await seal.open(begun.answer, owner) : begun.answer;
      return c.json(JSON.parse(answer) as object, 200);
    }
    try {
      const body = bytes.length > 0 ? bytes : null;
      const made = begun.state === "again" ? await find(project, begun.id) : null;
      const record = made ?? (await makeAs(new Request(url, { method, headers, body }), c, begun.id));
      const answer = JSON.stringify(keep(record));
      await idempotency.end(project, key, { answer: seal ? await seal.seal(answer, owner) : answer });
      return c.json(record as object, 201);
    } catch (thrown) {
      await idempotency.end(project, key, isRefusal(thrown) ? "refused" : "lost");
      throw thrown;
    }
  }

  return async (c) => {
    const key = c.req.header("Idempotency-Key");
    if (key === undefined) return c.json((await makeAs(c.req.raw, c, id(sort, now()))) as object, 201);
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
      const message = "Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.";
      throw new MediaError("request_invalid", message, { param: "Idempotency-Key" });
    }
    return once(c, key);
  };
}
