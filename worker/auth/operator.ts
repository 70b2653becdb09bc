import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import { SCOPES } from "../../src/core/key.ts";
import type { ApiEnv } from "../http/context.ts";
import { OPERATOR, type Principal } from "./key-ring.ts";

/** The header in which an operator names the project whose keys a request is about. */
export const PROJECT_HEADER = "Framewright-Project";
/** Lists the names of all projects, for operators alone. */
export const PROJECTS_PATH = "/operator/projects";

/** Returns the principal of an operator's request, which may concern only the keys of the named project; throws `forbidden` or `request_invalid`. */
export function operatorOf(c: Context<ApiEnv>): Principal {
  const all = { id: OPERATOR, scopes: SCOPES, hash: null };
  if (c.req.path === PROJECTS_PATH) return { ...all, project: "" };
  if (!/^\/keys(\/|$)/.test(c.req.path)) {
    throw new MediaError("forbidden", "An operator's key manages keys alone; use a key of the project.");
  }
  const project = c.req.header(PROJECT_HEADER) ?? "";
  if (/^[\w-]{1,64}$/.test(project)) return { ...all, project };
  const message = `${PROJECT_HEADER} must name the project, by 1 to 64 letters, digits, _ or -.`;
  throw new MediaError("request_invalid", message, { param: PROJECT_HEADER });
}
