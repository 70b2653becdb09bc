import type { MiddlewareHandler } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import type { ApiEnv } from "../http/context.ts";
import type { KeyRing } from "./key-ring.ts";

/** Lets only requests with a known API key through, and sets the project that it belongs to. Open paths pass without. */
export function bearer(keys: KeyRing, isOpen: (path: string) => boolean): MiddlewareHandler<ApiEnv> {
  return async function bearer(c, next) {
    if (isOpen(c.req.path)) return next();
    const header = c.req.header("Authorization");
    if (header === undefined) {
      throw new MediaError("token_missing", "The Authorization header is missing; send Bearer <API_KEY>.");
    }
    // https://www.rfc-editor.org/rfc/rfc6750#section-2.1, with any printable character in the key
    const key = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
    const principal = key === undefined ? null : await keys.find(key);
    if (!principal) {
      const fault = key === undefined ? "The Authorization header is malformed" : "The API key is not valid";
      throw new MediaError("token_invalid", `${fault}; send Bearer <API_KEY>.`);
    }
    c.set("project", principal.project);
    return next();
  };
}
