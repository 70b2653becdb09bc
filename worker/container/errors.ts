import { MediaError, type MediaErrorOptions } from "../../src/media/errors.ts";
import type { Refusal } from "../../src/media/refusal.ts";
import { describeRefusals } from "../../src/media/words.ts";
import { MIB } from "../../src/util/bytes.ts";

type Cause = Pick<MediaErrorOptions, "cause">;

/** The rules that the types of fields cannot express, for `fieldInvalid`. */
export const rules = {
  folder: "must end with a slash",
  onePicture: "must be of a single picture",
};

export const routeNotFound = () => new MediaError("route_not_found", "There is no such route.");
export const jobNotFound = () => new MediaError("route_not_found", "There is no such job.");
export const tokenMissing = () =>
  new MediaError("token_missing", "The Authorization header is missing; send Bearer <token>.");
export const tokenInvalid = () =>
  new MediaError("token_invalid", "The token is not valid; send Bearer <token>.");
export const largeJob = ({ max_bytes }: { max_bytes: number }) =>
  new MediaError("payload_too_large", `A job must not exceed ${max_bytes} bytes.`);
export const notJson = () => new MediaError("request_invalid", "The body is not valid JSON.");
export const noPictureBody = () =>
  new MediaError("request_invalid", "The body must be a frame and a picture.");
export const waitMalformed = () =>
  new MediaError("request_invalid", "wait must be a number of seconds.", { param: "wait" });
export const ending = () =>
  new MediaError(
    "service_unavailable",
    "This encoder is shutting down; use another one, or try again later.",
  );
export const noSlot = () =>
  new MediaError(
    "service_unavailable",
    "This encoder has no free slot; use another one, or try again later.",
  );

export const fieldUnknown = ({ param }: { param: string }) =>
  new MediaError("request_invalid", `${param}: is unknown to this encoder.`, { param });
export const protocolUnread = ({ versions }: { versions: readonly number[] }) =>
  new MediaError("request_invalid", `protocol: must be ${versions.join(" or ")}.`, { param: "protocol" });
export const fieldInvalid = ({
  param,
  message = "is invalid",
}: {
  param: string;
  message: string | undefined;
}) => new MediaError("request_invalid", `${param}: ${message}.`, { param });
export const fileNameMissing = () =>
  new MediaError("request_invalid", "name must be a file name.", { param: "name" });
export const fileNameUnexpected = () =>
  new MediaError("request_invalid", "name must be null for adaptive video, storyboards and several stills.", {
    param: "name",
  });
export const extraInputsDiffer = ({ count }: { count: number }) =>
  new MediaError("request_invalid", `further must hold ${count} files.`, { param: "further" });
export const originForbidden = ({ param }: { param: string }) =>
  new MediaError("request_invalid", `${param} must be at one of this encoder's SERVICE_ORIGINS.`, {
    param,
  });
export const refused = ({ refusals }: { refusals: readonly Refusal[] }) =>
  new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals });
export const jobEnded = () => new MediaError("worker_lost", "The job was ended.");
export const jobCancelled = () => new MediaError("worker_lost", "The job was cancelled.");
export const shuttingDown = () =>
  new MediaError("worker_lost", "The encoder is shutting down; another one has to do the work.");
export const extraInputMissing = () => new RangeError("An extra file of the job is missing.");
export const toolMissing = ({ option }: { option: string }) => new RangeError(`No encoder takes ${option}.`);

export const formatUnread = ({ format }: { format: string }) =>
  new MediaError("input_unsupported", `Sources of the format ${format} are not read here.`);
export const inputRedirected = () =>
  new MediaError("input_forbidden", "The source of a job must not be redirected.");
export const inputChanged = () =>
  new MediaError(
    "input_changed",
    "The source changed after it was probed; start again to encode its current version.",
  );
export const decoderMissing = ({ format, package_name }: { format: string; package_name: string }) =>
  new MediaError(
    "encoder_unavailable",
    `This native encoder has no decoder of ${format}: install ${package_name} beside its ffmpeg.`,
  );
export const decoderKilled = (cause: Cause) =>
  new MediaError("worker_lost", "The decoder was terminated from outside; try again.", cause);
export const decoderOutOfMemory = (cause: Cause) =>
  new MediaError("out_of_memory", "The picture needs more memory than this encoder has.", cause);
export const pictureUnreadable = (cause: Cause) =>
  new MediaError(
    "input_unsupported",
    "The picture is damaged, or of a kind that its decoder cannot read.",
    cause,
  );
export const decoderWroteNothing = ({ program }: { program: string }) =>
  new MediaError("encode_failed", `${program} wrote no picture.`);
export const largeWebp = ({ max_bytes }: { max_bytes: number }) =>
  new MediaError("input_too_large", `An animated WebP may have at most ${max_bytes / MIB} MB here.`);

export const stalled = ({ seconds }: { seconds: number }) =>
  new MediaError("stalled", `ffmpeg made no progress for ${seconds} s and was terminated.`);
export const memoryExceeded = () =>
  new MediaError(
    "out_of_memory",
    "The work needs more memory than this encoder has beside its other jobs; try again.",
    { retryable: true },
  );
export const pictureJobLost = () => new MediaError("worker_lost", "The encoder ended the picture's job.");
export const noPictureWritten = () => new MediaError("encode_failed", "The encoder wrote no picture.");
export const largePicture = ({ max_bytes }: { max_bytes: number }) =>
  new MediaError("out_of_memory", `The new picture would have more than ${max_bytes / MIB} MiB.`);
export const pictureTimeout = ({ seconds }: { seconds: number }) =>
  new MediaError("timeout", `The picture was not finished within ${seconds} s.`);

export const ffmpegMissing = () =>
  new MediaError("encoder_unavailable", "ffmpeg is not installed, or does not start.");
export const userUnavailable = ({ user }: { user: string }) =>
  new MediaError("encoder_unavailable", `ffmpeg cannot run as ${user} (FFMPEG_USER) here.`);
export const encodersMissing = ({ names }: { names: readonly string[] }) =>
  new MediaError("encoder_unavailable", `The installed ffmpeg lacks the encoders ${names.join(", ")}.`);
export const protectionMissing = ({ names, host }: { names: readonly string[]; host: string }) =>
  new MediaError(
    "request_invalid",
    `${names.join(" and ")} must be set, because other machines can reach HOST ${host}.`,
    { param: names[0] },
  );
