import type { Context } from "hono";
import { SCOPES } from "../../src/runs/key.ts";
import { errors } from "../errors.ts";
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
    throw errors.operatorKeysOnly();
  }
  const project = c.req.header(PROJECT_HEADER) ?? "";
  if (/^[\w-]{1,64}$/.test(project)) return { ...all, project };
  throw errors.operatorProjectMissing({ header: PROJECT_HEADER });
}
