import { MediaError } from "../src/media/errors.ts";
import type { Scope } from "../src/runs/key.ts";
import type { ListType } from "../src/runs/lists.ts";

type Run = "task" | "step" | "job";
const CONNECTION_USERS = {
  input: "An s3:// input",
  output: "An S3 output",
  upload: "An upload",
} as const;
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
};

/** The errors of the service, each built from its facts. */
export const errors = {
  notFound: (object: ListType, { id, param }: { id?: string; param?: string } = {}) =>
    new MediaError(
      `${object}_not_found`,
      id === undefined ? `There is no ${object} with that id.` : `There is no ${object} ${id}.`,
      { param },
    ),
  finished: (object: Run) =>
    new MediaError(`${object}_finished`, `The ${object} is finished and cannot be cancelled.`),
  running: (object: Run) => new MediaError(`${object}_running`, `The ${object} still runs; cancel it first.`),
  notListed: (object: Run) =>
    new MediaError(
      "service_unavailable",
      `The ${object} was not created, because its project cannot list it now; try again later.`,
    ),
  /** For a host or URL that a check refused with `message`. */
  refusedUrl: ({ param, message }: { param: string; message: string }) =>
    new MediaError("request_invalid", `${param}: ${message}`, { param }),

  routeNotFound: ({ path }: { path: string }) =>
    new MediaError("route_not_found", `There is no ${path}. See /docs for what there is.`),
  methodNotAllowed: ({
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
    ),
  pageFileNotFound: ({ path }: { path: string }) => new MediaError("route_not_found", `There is no ${path}.`),
  internal: () =>
    new MediaError(
      "internal_error",
      "Something failed on our side; try again, and name the request id if it persists.",
    ),
  notJsonType: () => new MediaError("request_invalid", "The Content-Type header must be application/json."),
  notUtf8Charset: () => new MediaError("request_invalid", "The body must be UTF-8."),
  notUtf8: () => new MediaError("request_invalid", "The body is not valid UTF-8."),
  notJson: () => new MediaError("request_invalid", "The body is not valid JSON."),
  emptyBody: () => new MediaError("request_invalid", "The body is empty; send a JSON object."),
  deepBody: ({ max_levels }: { max_levels: number }) =>
    new MediaError("request_invalid", `The body is nested over ${max_levels} levels deep.`),
  largeBody: ({ max_bytes }: { max_bytes: number }) =>
    new MediaError("payload_too_large", `The body must not exceed ${max_bytes} bytes.`),
  foreignOrigin: () =>
    new MediaError(
      "forbidden",
      "Pages of this origin may not call the service; the setting CORS_ORIGINS lists those that may.",
    ),
  foreignHost: () =>
    new MediaError(
      "forbidden",
      "The service does not answer for the host of this request; the setting SERVICE_HOSTS lists its own.",
    ),
  lastEventIdMalformed: () =>
    new MediaError("request_invalid", "Last-Event-ID must be the id of one of these events.", {
      param: "Last-Event-ID",
    }),
  idempotencyKeyMalformed: () =>
    new MediaError(
      "request_invalid",
      "Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.",
      { param: "Idempotency-Key" },
    ),
  idempotencyConflict: () =>
    new MediaError("idempotency_conflict", "A request with this Idempotency-Key is still being answered."),
  idempotencyMismatch: () =>
    new MediaError("idempotency_mismatch", "This Idempotency-Key was used with another request."),

  tokenMissing: () =>
    new MediaError("token_missing", "The Authorization header is missing; send Bearer <API_KEY>."),
  tokenMalformed: () =>
    new MediaError("token_invalid", "The Authorization header is malformed; send Bearer <API_KEY>."),
  tokenUnknown: () => new MediaError("token_invalid", "The API key is not valid; send Bearer <API_KEY>."),
  keyRevoked: () =>
    new MediaError("token_invalid", "The API key was revoked, or replaced by one without the scope admin."),
  keyUnreadable: (cause: Cause) =>
    new MediaError("service_unavailable", "The key could not be looked up; try again.", cause),
  scopeMissing: ({ scope }: { scope: Scope }) =>
    new MediaError("forbidden", `The key lacks the scope ${scope}, which this needs.`),
  scopesExceeded: () =>
    new MediaError("forbidden", "A key can create and roll only keys whose scopes it has itself."),
  tooManyKeys: ({ max }: { max: number }) =>
    new MediaError(
      "forbidden",
      `A project may have ${max} keys, and this one already does; revoke one that is not needed.`,
    ),
  operatorOnly: () => new MediaError("forbidden", "Only an operator's key may list projects."),
  operatorKeysOnly: () =>
    new MediaError("forbidden", "An operator's key only manages keys; use a key of the project."),
  operatorProjectMissing: ({ header }: { header: string }) =>
    new MediaError(
      "request_invalid",
      `${header} must name the project, by 1 to 64 letters, digits, _ or -.`,
      { param: header },
    ),

  tooManyRequests: ({ limit, counted, seconds }: { limit: number; counted: string; seconds: number }) =>
    new MediaError(
      "rate_limited",
      `A key may make ${limit} ${counted} a minute; try again in ${seconds} seconds.`,
    ),
  tooManyWaiting: ({ max }: { max: number }) =>
    new MediaError(
      "rate_limited",
      `${max} tasks and steps of this project wait for their turn, which is the maximum; try again when some are done.`,
    ),
  quotaExceeded: ({ of }: { of: "fetched" | "stored" }) =>
    new MediaError(
      "quota_exceeded",
      `This project has used up the bytes that it may ${of === "fetched" ? "fetch from elsewhere" : "store"} in a day, or too few of them are left for this; the day ends at midnight UTC.`,
    ),

  inputRefused: ({ param, message }: { param: string; message: string }) =>
    new MediaError("invalid_input", `${param}: ${message}`, { param }),
  uploadIncomplete: ({ param }: { param: string }) =>
    new MediaError("invalid_input", `${param}: The upload is not complete.`, { param }),
  connectionsDiffer: ({ param, other }: { param: string; other: string }) =>
    new MediaError("invalid_input", `${param}: It is read by another connection than ${other}.`, { param }),
  stepOfTask: ({ task_id, method }: { task_id: string; method: "cancel" | "delete" }) =>
    new MediaError(
      "request_invalid",
      method === "cancel"
        ? `The step belongs to a task; cancel that: POST /tasks/${task_id}/cancel.`
        : `The step belongs to a task; delete that: DELETE /tasks/${task_id}.`,
    ),
  encryptionKeyLost: () =>
    new MediaError(
      "invalid_options",
      "The key of the task's encryption is no longer stored; create the task again with it.",
      { param: "options.encryption.key" },
    ),
  runStalled: () => new MediaError("stalled", "The work made no progress for too long and was stopped."),
  runLost: () => new MediaError("worker_lost", "The run was lost; create the task again."),
  taskNotListed: () => new Error("The task was not listed."),
  storedFilePinned: () => new MediaError("internal_error", "A stored file is never pinned."),

  connectionRequired: ({ param, user }: { param: string; user: ConnectionUser }) =>
    new MediaError(
      "connection_required",
      `${CONNECTION_USERS[user]} needs a stored connection, and there is none: POST /connections makes one.`,
      { param },
    ),
  connectionInUse: () =>
    new MediaError("connection_in_use", "Running tasks use the connection; wait for them or cancel them."),
  connectionOfRunDeleted: () =>
    new MediaError("connection_not_found", "The connection of this run no longer exists."),
  connectionUnreadable: (cause: Cause) =>
    new MediaError(
      "service_unavailable",
      "The secret of the connection can no longer be decrypted; set it again.",
      {
        ...cause,
        retryable: false,
      },
    ),
  connectionKeysMissing: () =>
    new MediaError(
      "service_unavailable",
      "Connections, webhooks and encrypted streams are not set up here: the secret CONNECTION_KEYS is missing.",
      { retryable: false },
    ),
  signingForbidden: ({ method }: { method: string }) =>
    new MediaError(
      "forbidden",
      `No rule in the field signing of the connection allows ${method} of this object.`,
    ),
  testObjectChanged: () =>
    new MediaError("upload_failed", "The test object could not be read back as written."),
  sealKeyMissing: () => new Error("There is no key to encrypt by."),
  sealKeyUnknown: () => new Error("No key in CONNECTION_KEYS opens this."),

  uploadTooLarge: ({ max_bytes }: { max_bytes: number }) =>
    new MediaError("request_invalid", `size must not be over ${max_bytes} bytes.`, { param: "size" }),
  uploadNotFound: () => new MediaError("media_not_found", "There is no upload with that id."),
  uploadOfOtherProject: () => new MediaError("invalid_input", "There is no such upload."),
  uploadExpired: () =>
    new MediaError("input_not_found", "This upload no longer exists; uploads are kept for a limited time."),
  uploadUrlInvalid: () => new MediaError("forbidden", "The URL is not one of an upload, or has expired."),
  uploadSizeDiffers: ({ size }: { size: number }) =>
    new MediaError("forbidden", `The URL is for a body of ${size} bytes, with Content-Length.`),
  uploadTypeDiffers: ({ content_type }: { content_type: string }) =>
    new MediaError("forbidden", `The URL is for Content-Type: ${content_type}.`),
  uploadOver: () => new MediaError("forbidden", "The upload is over; nothing more can be uploaded."),
  partsMissing: ({ count }: { count: number }) =>
    new MediaError("request_invalid", `The file is incomplete: ${count} of its parts were not uploaded.`),
  partsDiffer: () =>
    new MediaError("request_invalid", "parts do not match those that were uploaded.", { param: "parts" }),
  partsUnlisted: () =>
    new MediaError("request_invalid", "This storage does not list parts: send their ETags.", {
      param: "parts",
    }),
  objectDiffers: () =>
    new MediaError("request_invalid", "The stored object is another one: its size, type or ETag differs."),

  mediaUrlInvalid: () => new MediaError("forbidden", "The media URL is not one of ours or has expired."),
  mediaNotFound: () =>
    new MediaError("media_not_found", "There is no such file; outputs are kept for a limited time."),
  runOver: () => new MediaError("forbidden", "The run is over; nothing more can be stored in its folder."),
  uploadAndPart: () => new MediaError("request_invalid", "`upload` and `part` go together."),
  uploadIdMalformed: () =>
    new MediaError("request_invalid", "`upload` must be the id returned when the upload began."),
  partNumberMalformed: ({ max }: { max: number }) =>
    new MediaError("request_invalid", `\`part\` is a number from 1 to ${max}.`),
  partListMalformed: () =>
    new MediaError(
      "request_invalid",
      'The body must be {"parts": [{"part": 1, "etag": "…"}, …]}, in ascending order.',
    ),
  postQueryMissing: () => new MediaError("request_invalid", "POST takes `?uploads` or `?upload=…`."),
  deleteQueryMissing: () => new MediaError("request_invalid", "DELETE takes `?upload=…`."),
  contentLengthMissing: () => new MediaError("request_invalid", "A Content-Length header is needed."),
  contentTypeMalformed: () =>
    new MediaError("request_invalid", "The Content-Type header must be a media type, such as video/mp4."),
  largePart: ({ max_bytes }: { max_bytes: number }) =>
    new MediaError("payload_too_large", `At most ${max_bytes} bytes at once; send parts.`),
  multipartNotFound: (cause?: Cause) =>
    new MediaError("media_not_found", "This upload no longer exists.", cause),
  partUnknown: (cause?: Cause) =>
    new MediaError("request_invalid", "A listed part was not uploaded, or has another ETag.", cause),
  partTooSmall: (cause?: Cause) =>
    new MediaError("request_invalid", "Every part but the last must have at least 5 MiB.", cause),
  partSizesDiffer: (cause?: Cause) =>
    new MediaError("request_invalid", "All parts but the last must be of one size.", cause),
  mediaUrlOfNoRun: () => new Error("Only files of a run have media URLs."),
  mediaFolderMalformed: () => new Error("The URL of a folder ends with a slash."),
  signingSecretEmpty: () => new Error("A secret that signs media URLs is empty; set MEDIA_SIGNING_KEY."),
  signingKeyMissing: () => new Error("There is no key to sign with."),
  fontDiffers: () => new RangeError("The font in this Worker is not the expected one."),

  storageFull: (cause: Cause) => new MediaError("storage_full", "There is no room left in storage.", cause),
  storageUnreadable: (cause: Cause) =>
    new MediaError("input_unreachable", "Storage did not return the bytes.", cause),
  storageUnwritable: (cause: Cause) =>
    new MediaError("upload_failed", "Storage did not accept the bytes.", cause),
  uploadNotStored: (cause?: Cause) =>
    new MediaError("service_unavailable", "Storage did not accept the bytes.", cause),
  resolverFailed: ({ status }: { status: number }) => new Error(`The resolver answers ${status}.`),
  diskFailed: ({ status }: { status: number }) => new Error(`The disk answered ${status}.`),
  diskFull: () => new Error("No space, or the stream broke off."),
  diskObjectLost: () => new Error("The bytes of an object are gone."),
  // The messages repeat R2's own, with its codes.
  r2UploadMissing: () => new Error("The specified multipart upload does not exist. (10024)"),
  r2PartMissing: () => new Error("One or more of the specified parts could not be found. (10025)"),
  r2RangeInvalid: () => new Error("The requested range is not satisfiable. (10039)"),

  imageSourceNotHttp: () =>
    new MediaError("invalid_input", "source: must be an http or https URL.", { param: "source" }),
  imageUrlMalformed: () =>
    new MediaError("request_invalid", "An image URL is /image/<options>/<source>, the source encoded."),
  imageUrlUnsigned: () =>
    new MediaError(
      "forbidden",
      "The image URL is unsigned, wrongly signed or expired, and the origin of its source requires a signature; POST /images signs one.",
    ),
  imageOriginForbidden: () =>
    new MediaError(
      "input_forbidden",
      "The source redirects to an origin that image URLs may not use without a signature.",
    ),
  imageOutputNotFound: () => new MediaError("media_not_found", "There is no such output, or it was deleted."),
  imageNotStored: () => new Error("The source is unchanged, but no picture of it is stored."),
  imageReplaced: () => new MediaError("service_unavailable", "The picture is being replaced; try again."),
  imageMemoryTaken: () =>
    new MediaError(
      "service_unavailable",
      "Other pictures take up all the memory; try again in a few seconds.",
    ),
  imageTimeout: ({ seconds }: { seconds: number }) =>
    new MediaError("timeout", `The picture was not finished within ${seconds} s.`),
  notAPicture: () => new MediaError("input_unsupported", "The source is not a picture."),
  noPicturePlanned: () => new MediaError("encode_failed", "There is no picture to encode."),
  noPictureWritten: () => new MediaError("encode_failed", "The encoder wrote no picture."),

  tooManyEndpoints: () => new MediaError("request_invalid", "The project has 20 endpoints, the maximum."),
  endpointDeleted: () => new MediaError("endpoint_not_found", "The endpoint of the delivery was deleted."),
  endpointDisabled: () =>
    new MediaError("endpoint_disabled", "The endpoint of the delivery is disabled; enable it first."),
};
