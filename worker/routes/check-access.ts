import { MediaError, toMediaError } from "../../src/core/errors.ts";
import type { StepRequest, TaskRequest } from "../../src/core/requests.ts";
import { checkHost } from "../../src/storage/host-guard.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "signer" | "settings">;

/** Checks that a task may read its input and write its output; throws `connection_required` or `invalid_input`. */
export async function checkTaskAccess(request: TaskRequest, needs: Needs): Promise<void> {
  await checkInput(request.input, "input", needs);
  if (request.output !== undefined) throw connectionRequired("output", "An S3 output");
}

/** Checks that a standalone step may read its input and write its output; throws `connection_required`, `connection_not_found` or `invalid_input`. */
export async function checkStepAccess(request: StepRequest, needs: Needs): Promise<void> {
  await checkInput(request.input.url, "input.url", needs);
  if (request.kind !== "upload") return;
  const param = "options.connection_id";
  if (request.options.connection_id === undefined) throw connectionRequired(param, "An upload");
  throw new MediaError("connection_not_found", "There is no connection with that id.", { param });
}

async function checkInput(url: string, param: string, { signer, settings }: Needs): Promise<void> {
  if (/^s3:/i.test(url)) throw connectionRequired(param, "An s3:// input");
  // Our own media are read from storage, wherever the service itself may stand.
  if ((await signer.resolve(url)) !== null) return;
  try {
    checkHost(url, settings);
  } catch (thrown) {
    throw new MediaError("invalid_input", `${param}: ${toMediaError(thrown).message}`, { param });
  }
}

function connectionRequired(param: string, what: string): MediaError {
  return new MediaError("connection_required", `${what} needs a stored connection, and there is none.`, {
    param,
  });
}
