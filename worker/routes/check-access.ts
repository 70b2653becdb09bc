import { MediaError, toMediaError } from "../../src/core/errors.ts";
import { furtherInputs } from "../../src/core/further/further-inputs.ts";
import type { StepRequest, TaskRequest } from "../../src/core/requests.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "signer" | "outside" | "page_uploads">;

/** What a run needs a connection for. */
export interface ConnectionNeed {
  /** Field of the request that needs it. */
  param: string;
  /** What needs it, in words. */
  what: string;
  /** Id of the one that is asked for; the default one serves where none is. */
  wanted?: string;
}

/**
 * Checks that a task may read its inputs, and returns whether it needs a connection; throws `invalid_input`. For an output of a
 * job, `at` is its path in the request, such as `outputs.0.`.
 */
export async function checkTaskAccess(
  request: TaskRequest,
  project: string,
  needs: Needs,
  at = "",
): Promise<ConnectionNeed | null> {
  const need = await checkInputs(request, { url: request.input, param: "input" }, project, needs, at);
  // The output goes by the default connection, whichever the input is read by.
  const own = need?.wanted !== undefined || !need;
  return own && request.output !== undefined ? { param: `${at}output`, what: "An S3 output" } : need;
}

/** Checks that a standalone step may read its inputs, and returns whether it needs a connection; throws `invalid_input`. */
export async function checkStepAccess(
  request: StepRequest,
  project: string,
  needs: Needs,
): Promise<ConnectionNeed | null> {
  const need = await checkInputs(request, { url: request.input.url, param: "input.url" }, project, needs);
  if (request.kind !== "upload") return need;
  const wanted = request.options.connection_id;
  const named = typeof wanted === "string" ? { wanted } : {};
  return { param: "options.connection_id", what: "An upload", ...named };
}

/** Ties the connection that a run needs to it; throws `connection_required`, or `connection_not_found` for one that was named. */
export async function reserveConnection(
  { connections }: Pick<Services, "connections">,
  project: string,
  run_id: string,
  need: ConnectionNeed | null,
): Promise<void> {
  if (!need || (await connections.reserve(project, run_id, need.wanted))) return;
  const { param, what, wanted } = need;
  if (wanted !== undefined)
    throw new MediaError("connection_not_found", "There is no connection with that id.", { param });
  const message = `${what} needs a stored connection, and there is none: POST /connections makes one.`;
  throw new MediaError("connection_required", message, { param });
}

// A run has one connection; files that need different ones cannot be read together.
async function checkInputs(
  request: { options?: unknown },
  main: { url: string; param: string },
  project: string,
  needs: Needs,
  at = "",
): Promise<ConnectionNeed | null> {
  let found: ConnectionNeed | null = null;
  const further = furtherInputs(request).map(({ url, param }) => ({ url, param: at + param }));
  for (const { url, param } of [main, ...further]) {
    const need = await checkInput(url, param, project, needs);
    if (found && need && found.wanted !== need.wanted) {
      const message = `${param}: It is read by another connection than ${found.param}.`;
      throw new MediaError("invalid_input", message, { param });
    }
    found ??= need;
  }
  return found;
}

async function checkInput(
  url: string,
  param: string,
  project: string,
  { signer, outside, page_uploads }: Needs,
): Promise<ConnectionNeed | null> {
  const fault = (message: string) => new MediaError("invalid_input", `${param}: ${message}`, { param });
  if (/^s3:/i.test(url)) return { param, what: "An s3:// input" };
  // Our own media are read from storage, even where the service's own host is not allowed.
  if ((await signer.resolve(url)) !== null) return null;
  try {
    const upload = await page_uploads.find(project, url);
    if (upload?.status === "waiting") throw fault("The upload is not complete.");
    if (upload?.connection_id) return { param, what: "An upload", wanted: upload.connection_id };
    if (upload) return null;
    await outside.guard(url);
    return null;
  } catch (thrown) {
    if (thrown instanceof MediaError && thrown.param !== undefined) throw thrown;
    throw fault(toMediaError(thrown).message);
  }
}
