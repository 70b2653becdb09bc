import { MediaError } from "../src/media/errors.ts";
import { CONNECTION_USERS } from "../src/runs/errors.ts";
import { IDEMPOTENCY_KEY_MAX } from "../src/runs/ids.ts";
import type { Scope } from "../src/runs/key.ts";
import type { ListType } from "../src/runs/lists.ts";

type Run = "task" | "step" | "job";
/** The use of a connection by a run. */
export type ConnectionUser = keyof typeof CONNECTION_USERS;

interface Cause {
  cause: unknown;
}

/** Why an attempt to deliver an event failed, or why there will be none. */
export const deliveryErrors = {
  answered: ({ status }: { status: number }) => {
    if (status === 410) return "It answered 410: it wants no more events.";
    const isRedirect = status >= 300 && status < 400;
    return `It answered ${status}${isRedirect ? "; redirects are not followed" : ""}.`;
  },
  timeout: ({ seconds }: { seconds: number }) => `No answer came within ${seconds} s.`,
  unreachable: () => "It could not be reached.",
  endpointDeleted: () => "The endpoint was deleted.",
  endpointDisabled: () => "The endpoint is disabled.",
  secretLost: () => "The signing secret can no longer be decrypted; rotate it.",
};

export const notFound = (object: ListType, { id, param }: { id?: string; param?: string } = {}) =>
  new MediaError(
    `${object}_not_found`,
    id === undefined ? `There is no ${object} with that id.` : `There is no ${object} ${id}.`,
    { param },
  );
export const notListed = (object: Run) =>
  new MediaError(
    "service_unavailable",
    `The ${object} was not created, because its project cannot list it now; try again later.`,
  );
/** The error of a host or URL that a check refused with `message`. */
export const refusedUrl = ({ param, message }: { param: string; message: string }) =>
  new MediaError("request_invalid", `${param}: ${message}`, { param });

export const routeNotFound = ({ path }: { path: string }) =>
  new MediaError("route_not_found", `There is no ${path}. See /docs for what there is.`);
export const methodNotAllowed = ({
  path,
  methods,
  method,
}: {
  path: string;
  methods: readonly string[];
  method: string;
}) =>
  new MediaError(
    "route_not_found",
    `${path} takes ${methods.join(", ")}, not ${method}. See /docs for what there is.`,
  );
export const pageFileNotFound = ({ path }: { path: string }) =>
  new MediaError("route_not_found", `There is no ${path}.`);
export const internal = () =>
  new MediaError(
    "internal_error",
    "Something failed on our side; try again, and name the request id if it persists.",
  );
export const notJsonType = () =>
  new MediaError("request_invalid", "The Content-Type header must be application/json.");
export const notUtf8Charset = () => new MediaError("request_invalid", "The body must be UTF-8.");
export const notUtf8 = () => new MediaError("request_invalid", "The body is not valid UTF-8.");
export const notJson = () => new MediaError("request_invalid", "The body is not valid JSON.");
export const emptyBody = () => new MediaError("request_invalid", "The body is empty; send a JSON object.");
export const deepBody = ({ max_levels }: { max_levels: number }) =>
  new MediaError("request_invalid", `The body is nested over ${max_levels} levels deep.`);
export const largeBody = ({ max_bytes }: { max_bytes: number }) =>
  new MediaError("payload_too_large", `The body must not exceed ${max_bytes} bytes.`);
export const foreignOrigin = () =>
  new MediaError(
    "forbidden",
    "Pages of this origin may not call the service; the setting CORS_ORIGINS lists those that may.",
  );
export const foreignHost = () =>
  new MediaError(
    "forbidden",
    "The service does not answer for the host of this request; the setting SERVICE_HOSTS lists its own.",
  );
export const lastEventIdMalformed = () =>
  new MediaError("request_invalid", "Last-Event-ID must be the id of one of these events.", {
    param: "Last-Event-ID",
  });
export const idempotencyKeyMalformed = () =>
  new MediaError(
    "request_invalid",
    `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX} printable ASCII characters without spaces.`,
    { param: "Idempotency-Key" },
  );
export const idempotencyConflict = () =>
  new MediaError("idempotency_conflict", "A request with this Idempotency-Key is still being answered.");
export const idempotencyMismatch = () =>
  new MediaError("idempotency_mismatch", "This Idempotency-Key was used with another request.");

export const tokenMissing = () =>
  new MediaError("token_missing", "The Authorization header is missing; send Bearer <API_KEY>.");
export const tokenMalformed = () =>
  new MediaError("token_invalid", "The Authorization header is malformed; send Bearer <API_KEY>.");
export const tokenUnknown = () =>
  new MediaError("token_invalid", "The API key is not valid; send Bearer <API_KEY>.");
export const keyRevoked = () =>
  new MediaError("token_invalid", "The API key was revoked, or replaced by one without the scope admin.");
export const keyUnreadable = (cause: Cause) =>
  new MediaError("service_unavailable", "The key could not be looked up; try again.", cause);
export const scopeMissing = ({ scope }: { scope: Scope }) =>
  new MediaError("forbidden", `The key lacks the scope ${scope}, which this needs.`);
export const scopesExceeded = () =>
  new MediaError("forbidden", "A key can create and roll only keys whose scopes it has itself.");
export const tooManyKeys = ({ max }: { max: number }) =>
  new MediaError(
    "forbidden",
    `A project may have ${max} keys, and this one already does; revoke one that is not needed.`,
  );
export const operatorOnly = () => new MediaError("forbidden", "Only an operator's key may list projects.");
export const operatorKeysOnly = () =>
  new MediaError("forbidden", "An operator's key only manages keys; use a key of the project.");
export const operatorProjectMissing = ({ header }: { header: string }) =>
  new MediaError("request_invalid", `${header} must name the project, by 1 to 64 letters, digits, _ or -.`, {
    param: header,
  });

export const tooManyRequests = ({
  limit,
  counted,
  seconds,
}: {
  limit: number;
  counted: string;
  seconds: number;
}) =>
  new MediaError(
    "rate_limited",
    `A key may make ${limit} ${counted} a minute; try again in ${seconds} seconds.`,
  );
export const tooManyWaiting = ({ max }: { max: number }) =>
  new MediaError(
    "rate_limited",
    `${max} tasks and steps of this project wait for their turn, which is the maximum; try again when some are done.`,
  );
export const quotaExceeded = ({ of }: { of: "fetched" | "stored" }) =>
  new MediaError(
    "quota_exceeded",
    `This project has used up the bytes that it may ${of === "fetched" ? "fetch from elsewhere" : "store"} in a day, or too few of them are left for this; the day ends at midnight UTC.`,
  );

export const inputRefused = ({ param, message }: { param: string; message: string }) =>
  new MediaError("invalid_input", `${param}: ${message}`, { param });
export const sampleOverHttp = ({ param }: { param: string }) =>
  new MediaError(
    "invalid_input",
    `${param}: An estimate or a preview reads http and https URLs and files of the service, not S3 storage.`,
    { param },
  );
export const sampleTimeout = ({ seconds }: { seconds: number }) =>
  new MediaError("timeout", `The input could not be sampled within ${seconds} seconds.`);
export const sampleNeedsRanges = ({ max_bytes }: { max_bytes: number }) =>
  new MediaError(
    "input_too_large",
    `The server of the input does not support range requests, so an estimate or a preview can read it only if its size is known and at most ${max_bytes} bytes.`,
  );
export const previewTooLarge = ({ bytes, max_bytes }: { bytes: number; max_bytes: number }) =>
  new MediaError(
    "input_too_large",
    `The files of this preview take ${bytes} bytes, but a response holds at most ${max_bytes}; choose a smaller size or a lower quality.`,
  );
export const uploadIncomplete = ({ param }: { param: string }) =>
  new MediaError("invalid_input", `${param}: The upload is not complete.`, { param });
export const connectionsDiffer = ({ param, other }: { param: string; other: string }) =>
  new MediaError("invalid_input", `${param}: The file is read by a different connection than ${other}.`, {
    param,
  });
export const stepOfTask = ({ task_id, method }: { task_id: string; method: "cancel" | "delete" }) =>
  new MediaError(
    "request_invalid",
    method === "cancel"
      ? `The step belongs to a task; cancel that: POST /tasks/${task_id}/cancel.`
      : `The step belongs to a task; delete that: DELETE /tasks/${task_id}.`,
  );
export const encryptionKeyLost = () =>
  new MediaError(
    "invalid_options",
    "The key of the task's encryption is no longer stored; create the task again with it.",
    { param: "options.encryption.key" },
  );
export const runStalled = () =>
  new MediaError("stalled", "The work made no progress for too long and was stopped.");
export const runLost = () => new MediaError("worker_lost", "The run was lost; create the task again.");
export const taskNotListed = () => new Error("The task was not listed.");
export const storedFilePinned = () => new MediaError("internal_error", "A stored file is never pinned.");

export const connectionRequired = ({ param, user }: { param: string; user: ConnectionUser }) =>
  new MediaError(
    "connection_required",
    `${CONNECTION_USERS[user]} needs a stored connection, and there is none: POST /connections makes one.`,
    { param },
  );
export const connectionInUse = () =>
  new MediaError("connection_in_use", "Running tasks use the connection; wait for them or cancel them.");
export const connectionOfRunDeleted = () =>
  new MediaError("connection_not_found", "The connection of this run no longer exists.");
export const connectionUnreadable = (cause: Cause) =>
  new MediaError(
    "service_unavailable",
    "The secret of the connection can no longer be decrypted; set it again.",
    {
      ...cause,
      retryable: false,
    },
  );
export const connectionKeysMissing = () =>
  new MediaError(
    "service_unavailable",
    "Connections, webhooks and encrypted streams are not set up here: the secret CONNECTION_KEYS is missing.",
    { retryable: false },
  );
export const signingForbidden = ({ method }: { method: string }) =>
  new MediaError(
    "forbidden",
    `No rule in the field signing of the connection allows ${method} of this object.`,
  );
export const testObjectChanged = () =>
  new MediaError("upload_failed", "The test object could not be read back as written.");
export const sealKeyMissing = () => new Error("There is no key to encrypt by.");
export const sealKeyUnknown = () => new Error("No key in CONNECTION_KEYS opens this.");

export const uploadTooLarge = ({ max_bytes }: { max_bytes: number }) =>
  new MediaError("request_invalid", `size must not be over ${max_bytes} bytes.`, { param: "size" });
export const uploadNotFound = () => new MediaError("media_not_found", "There is no upload with that id.");
export const uploadOfOtherProject = () => new MediaError("invalid_input", "There is no such upload.");
export const uploadExpired = () =>
  new MediaError("input_not_found", "This upload no longer exists; uploads are kept for a limited time.");
export const uploadUrlInvalid = () =>
  new MediaError("forbidden", "The URL is not one of an upload, or has expired.");
export const uploadSizeDiffers = ({ size }: { size: number }) =>
  new MediaError("forbidden", `The URL is for a body of ${size} bytes, with Content-Length.`);
export const uploadTypeDiffers = ({ content_type }: { content_type: string }) =>
  new MediaError("forbidden", `The URL is for Content-Type: ${content_type}.`);
export const uploadOver = () =>
  new MediaError("forbidden", "The upload is over; nothing more can be uploaded.");
export const partsMissing = ({ count }: { count: number }) =>
  new MediaError("request_invalid", `The file is incomplete: ${count} of its parts were not uploaded.`);
export const partsDiffer = () =>
  new MediaError("request_invalid", "parts do not match those that were uploaded.", { param: "parts" });
export const partsUnlisted = () =>
  new MediaError("request_invalid", "This storage does not list parts: send their ETags.", {
    param: "parts",
  });
export const objectDiffers = () =>
  new MediaError("request_invalid", "The stored object is another one: its size, type or ETag differs.");

export const mediaUrlInvalid = () =>
  new MediaError("forbidden", "The media URL is not one of ours or has expired.");
export const mediaNotFound = () =>
  new MediaError("media_not_found", "There is no such file; outputs are kept for a limited time.");
export const runOver = () =>
  new MediaError("forbidden", "The run is over; nothing more can be stored in its folder.");
export const uploadAndPart = () => new MediaError("request_invalid", "`upload` and `part` go together.");
export const uploadIdMalformed = () =>
  new MediaError("request_invalid", "`upload` must be the id returned when the upload began.");
export const partNumberMalformed = ({ max }: { max: number }) =>
  new MediaError("request_invalid", `\`part\` must be a number from 1 to ${max}.`);
export const partListMalformed = () =>
  new MediaError(
    "request_invalid",
    'The body must be {"parts": [{"part": 1, "etag": "…"}, …]}, in ascending order.',
  );
export const postQueryMissing = () =>
  new MediaError("request_invalid", "POST takes `?uploads` or `?upload=…`.");
export const deleteQueryMissing = () => new MediaError("request_invalid", "DELETE takes `?upload=…`.");
export const contentLengthMissing = () =>
  new MediaError("request_invalid", "A Content-Length header is needed.");
export const contentTypeMalformed = () =>
  new MediaError("request_invalid", "The Content-Type header must be a media type, such as video/mp4.");
export const largePart = ({ max_bytes }: { max_bytes: number }) =>
  new MediaError("payload_too_large", `At most ${max_bytes} bytes at once; send parts.`);
export const multipartNotFound = (cause?: Cause) =>
  new MediaError("media_not_found", "This upload no longer exists.", cause);
export const partUnknown = (cause?: Cause) =>
  new MediaError("request_invalid", "A listed part was not uploaded, or has another ETag.", cause);
export const partTooSmall = (cause?: Cause) =>
  new MediaError("request_invalid", "Every part but the last must have at least 5 MiB.", cause);
export const partSizesDiffer = (cause?: Cause) =>
  new MediaError("request_invalid", "All parts but the last must be of one size.", cause);
export const mediaUrlOfNoRun = () => new Error("Only files of a run have media URLs.");
export const mediaFolderMalformed = () => new Error("The URL of a folder ends with a slash.");
export const signingSecretEmpty = () =>
  new Error("A secret that signs media URLs is empty; set MEDIA_SIGNING_KEY.");
export const signingKeyMissing = () => new Error("There is no key to sign with.");
export const scriptFontMissing = ({ name, status }: { name: string; status: number }) =>
  new MediaError("encoder_unavailable", `The font ${name} could not be read (status ${status}).`);
export const fontDiffers = () => new RangeError("The font in this Worker is not the expected one.");

export const storageFull = (cause: Cause) =>
  new MediaError("storage_full", "There is no room left in storage.", cause);
export const storageUnreadable = (cause: Cause) =>
  new MediaError("input_unreachable", "Storage did not return the bytes.", cause);
export const storageUnwritable = (cause: Cause) =>
  new MediaError("upload_failed", "Storage did not accept the bytes.", cause);
export const uploadNotStored = (cause?: Cause) =>
  new MediaError("service_unavailable", "Storage did not accept the bytes.", cause);
export const resolverFailed = ({ status }: { status: number }) =>
  new Error(`The resolver answers ${status}.`);
export const diskFailed = ({ status }: { status: number }) => new Error(`The disk answered ${status}.`);
export const diskFull = () => new Error("No space, or the stream broke off.");
export const diskObjectLost = () => new Error("The bytes of an object are gone.");
// The messages repeat R2's own, with its codes.
export const r2UploadMissing = () => new Error("The specified multipart upload does not exist. (10024)");
export const r2PartMissing = () =>
  new Error("One or more of the specified parts could not be found. (10025)");
export const r2RangeInvalid = () => new Error("The requested range is not satisfiable. (10039)");

export const imageSourceNotHttp = () =>
  new MediaError("invalid_input", "source: must be an http or https URL.", { param: "source" });
export const imageUrlMalformed = () =>
  new MediaError("request_invalid", "An image URL is /image/<options>/<source>, the source encoded.");
export const imageUrlUnsigned = () =>
  new MediaError(
    "forbidden",
    "The image URL is unsigned, wrongly signed or expired, and the origin of its source requires a signature; POST /images signs one.",
  );
export const imageOriginForbidden = () =>
  new MediaError(
    "input_forbidden",
    "The source redirects to an origin that image URLs may not use without a signature.",
  );
export const imageOutputNotFound = () =>
  new MediaError("media_not_found", "There is no such output, or it was deleted.");
export const imageNotStored = () => new Error("The source is unchanged, but no picture of it is stored.");
export const imageReplaced = () =>
  new MediaError("service_unavailable", "The picture is being replaced; try again.");
export const imageMemoryTaken = () =>
  new MediaError("service_unavailable", "Other pictures take up all the memory; try again in a few seconds.");
export const imageTimeout = ({ seconds }: { seconds: number }) =>
  new MediaError("timeout", `The picture was not finished within ${seconds} s.`);
export const imageCutOff = ({ seconds }: { seconds: number }) =>
  new MediaError("input_unsupported", `The picture is cut off after ${seconds} s.`);
export const notAPicture = () => new MediaError("input_unsupported", "The source is not a picture.");
export const noPicturePlanned = () => new MediaError("encode_failed", "There is no picture to encode.");
export const noPictureWritten = () => new MediaError("encode_failed", "The encoder wrote no picture.");

export const tooManyEndpoints = () =>
  new MediaError("request_invalid", "The project has 20 endpoints, the maximum.");
export const endpointDeleted = () =>
  new MediaError("endpoint_not_found", "The endpoint of the delivery was deleted.");
export const endpointDisabled = () =>
  new MediaError("endpoint_disabled", "The endpoint of the delivery is disabled; enable it first.");
