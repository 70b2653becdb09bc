import { MediaError } from "../../media/errors.ts";
import { MIB } from "../../util/bytes.ts";

interface Cause {
  cause: unknown;
}

export const coreUnstarted = (cause: Cause) =>
  new MediaError("worker_lost", "The encoder could not be started.", cause);
export const coreCrashed = ({ summary, cause }: Cause & { summary: string }) =>
  new MediaError(
    "encode_failed",
    `The encoder broke down on this file.${summary ? ` Its last words: ${summary}` : ""}`,
    { cause },
  );
export const coreUnusable = () =>
  new MediaError("encode_failed", "The encoder broke down in an earlier run.");
export const probeUnsupported = () => new MediaError("probe_failed", "The fast core cannot probe files.");
export const memoryUnavailable = (cause: Cause) =>
  new MediaError("out_of_memory", "There is no memory left for the encoder.", cause);
export const memoryExceeded = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError(
    "out_of_memory",
    `The work needs more memory than the ${Math.round(maxBytes / MIB)} MB that this encoder has.`,
  );
export const largeInput = ({ job, maxBytes }: { job: "probe" | "encode"; maxBytes: number }) =>
  new MediaError(
    job === "probe" ? "probe_failed" : "encoder_unavailable",
    `More than ${Math.round(maxBytes / MIB)} MB of the input would have to be in memory at once.`,
  );
export const outputBlockMissing = ({ index }: { index: number }) =>
  new Error(`The output has no block ${index}.`);
