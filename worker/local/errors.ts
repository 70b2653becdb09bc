import { type ErrorKind, MediaError } from "../../src/media/errors.ts";

const argument = (message: string, param?: string) => new MediaError("request_invalid", message, { param });
const unavailable = (message: string, cause?: unknown) =>
  new MediaError("service_unavailable", message, { cause });

// Each is printed as one line.

export const argumentsUnknown = ({ usage }: { usage: string }) =>
  argument(`Unknown command or wrong arguments.\n\n${usage}`);
export const tooManyInputs = ({ inputs }: { inputs: readonly string[] }) =>
  argument(`Give one FILE or URL, not ${inputs.length}: ${inputs.join(", ")}.`);
export const notANumber = ({ name, value }: { name: string; value: string }) =>
  argument(`--${name} must be a number, not ${JSON.stringify(value)}.`);
export const fileNotFound = ({ path }: { path: string }) => argument(`There is no file ${path}.`);
export const projectMalformed = () =>
  argument("--project must be 1 to 64 letters, digits, _ or -.", "project");
export const operatorKeyMissing = () =>
  argument("OPERATOR_KEY must be set to that of the service.", "OPERATOR_KEY");
export const apiKeyMissing = () => argument("API_KEY must be set: a key of the service at --url.", "API_KEY");
export const urlMissing = () => argument("--service needs --url.", "url");
export const keyNotFound = ({ id }: { id: string }) =>
  argument(`There is no key ${id}; npm run keys -- list shows them all.`);

export const programsMissing = ({
  programs,
  packages,
}: {
  programs: readonly string[];
  packages: readonly string[];
}) =>
  unavailable(
    `${programs.join(", ")} missing on this machine: install ${packages.join(" and ")} and try again.`,
  );
export const programsStillMissing = ({ programs }: { programs: readonly string[] }) =>
  unavailable(`apt-get succeeded, but ${programs.join(", ")} is still missing.`);
export const aptFailed = ({ command, reason }: { command: string; reason: string }) =>
  unavailable(`apt-get ${command} failed: ${reason}`);
export const wranglerFailed = ({
  command,
  reason,
  cause,
}: {
  command: string;
  reason: string;
  cause: unknown;
}) => unavailable(`wrangler ${command} failed: ${reason}`, cause);
export const portUnusable = ({ port, code }: { port: number; code: string | undefined }) =>
  unavailable(
    code === "EADDRINUSE"
      ? `Port ${port} is in use: set PORT to another, or to 0 for any free one.`
      : `Port ${port} cannot be used (${code}): set PORT to another, or to 0 for any free one.`,
  );
export const stateDirInUse = ({ dir, pid }: { dir: string; pid: number }) =>
  unavailable(
    `A service (process ${pid}) already runs on ${dir}: stop it, or set STATE_DIR to another folder.`,
  );
export const stateDirLocked = ({ dir }: { dir: string }) =>
  unavailable(`Another service is just starting on ${dir}.`);
export const stateDirUnwritable = ({
  dir,
  code,
  cause,
}: {
  dir: string;
  code: string | undefined;
  cause: unknown;
}) =>
  unavailable(
    `Cannot write to STATE_DIR ${dir} (${code}); set STATE_DIR to a folder that can be written.`,
    cause,
  );

export const notStarted = ({ name, reason, log }: { name: string; reason: string; log: string }) =>
  unavailable(`${name} did not start: ${reason}; see ${log}.`);
// Why a program did not start: the `reason` of `notStarted`.
export const startEnded = ({ code, signal }: { code: number | null; signal: NodeJS.Signals | null }) =>
  new Error(`it exited with ${signal ?? `code ${code}`}`);
export const startSilent = ({ seconds }: { seconds: number }) =>
  new Error(`it did not respond within ${seconds} s`);
export const encoderNotRegistered = () => unavailable("The encoder did not register.");
export const unhealthy = ({ url }: { url: string }) =>
  unavailable(`${url}/health does not respond with 200.`);
export const unreachable = ({ url, cause }: { url: string; cause: unknown }) =>
  unavailable(`${url} does not respond.`, cause);
export const notAService = ({ url, status }: { url: string; status: number }) =>
  unavailable(`${url} responds with HTTP ${status}, not as a service.`);
export const refused = ({ url, kind, message }: { url: string; kind: ErrorKind; message: string }) =>
  new MediaError(kind, `${url}: ${message}`);
export const taskFailed = ({ kind, message }: { kind: ErrorKind; message: string }) =>
  new MediaError(kind, `${kind}: ${message}`);
export const outputMissing = () => new MediaError("internal_error", "The task succeeded without an output.");
export const outputUnavailable = ({ status }: { status: number }) =>
  new MediaError("media_not_found", `The output cannot be fetched (HTTP ${status}).`);
