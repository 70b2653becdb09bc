import { MediaError } from "../../media/errors.ts";

interface Cause {
  cause: unknown;
}

/** `names` are the globals that a page has, and this environment lacks. */
export const notPage = ({ names }: { names: readonly string[] }) =>
  new MediaError(
    "service_unavailable",
    `The local client runs in a page, and there is no ${names.join(" and no ")} here, as on a server or in Node. ` +
      "Call it in the browser, or use createRemoteClient of framewright/client.",
    { retryable: false },
  );
export const insecurePage = () =>
  new MediaError(
    "service_unavailable",
    "The local client needs a page that is served over https:// or from localhost: the browser denies others files and locks.",
    { retryable: false },
  );
export const workerUnstarted = ({ reason, cause }: { reason: string; cause?: unknown }) =>
  new MediaError(
    "worker_lost",
    `The media worker could not be started: ${reason}. If your bundler did not find it, serve dist/workers and dist/core of the package side by side on the page's own origin, and name the first as workers: "/…/workers/".`,
    { cause },
  );

export const clickMissing = ({ name, cause }: Cause & { name: string }) =>
  new MediaError(
    "input_unreachable",
    `The browser asks whether ${name} may be read only after a click: call resume() from its handler, or pass the file, chosen again.`,
    { cause, retryable: false },
  );
export const permissionDenied = ({ name }: { name: string }) =>
  new MediaError(
    "input_unreachable",
    `The visitor did not allow ${name} to be read: pass the file, chosen again, to resume().`,
    { retryable: false },
  );

export const runDeleted = ({ object, id }: { object: "task" | "step"; id: string }) =>
  new MediaError(`${object}_not_found`, `The ${object} ${id} was deleted.`);
export const outputMissing = (cause?: Cause) =>
  new MediaError(
    "media_not_found",
    "This file no longer exists; outputs are kept for a limited time.",
    cause,
  );
export const outputFileMissing = () =>
  new MediaError("media_not_found", "A file of the output no longer exists.");

export const drawingUnavailable = () =>
  new MediaError("encoder_unavailable", "Only a page can draw an SVG, and this client runs in a worker.");
export const svgUnreadable = (cause: Cause) =>
  new MediaError("input_unsupported", "The SVG is damaged, or this browser cannot draw it.", cause);
export const pixelMemoryMissing = () =>
  new MediaError("out_of_memory", "The browser has no memory for the pixels of the SVG.");

export const signedUrlMissing = () => new MediaError("upload_failed", "The page returned no signed URL.");
export const unsigned = (cause: Cause) =>
  new MediaError("upload_failed", "The page could not get the storage request signed.", cause);
