import {
  ERROR_KINDS,
  type ErrorKind,
  type ErrorReason,
  explainRefusals,
  type MediaError,
} from "../../src/index.ts";
import { optionLabel } from "../../src/media/option-groups.ts";

/** An error in plain words: what is wrong, and what to do next. */
export interface FaultWords {
  readonly title: string;
  readonly todo: string;
}

const OPTIONS = "Change the options, then convert again.";
const KEY = "Connect the service again under Edge, with a key that is allowed to do this.";
const GONE = "Remove it and add the file again.";
const AGAIN = "Try again.";

const WORDS = {
  request_invalid: { title: "The request is not valid.", todo: OPTIONS },
  input_required: { title: "There is no file to work on.", todo: GONE },
  invalid_input: { title: "This file or address can't be used.", todo: "Check it, or add another." },
  invalid_kind: { title: "This kind of file can't be converted to that.", todo: OPTIONS },
  invalid_format: { title: "That format is not supported.", todo: OPTIONS },
  invalid_codec: { title: "That format does not support this codec.", todo: OPTIONS },
  invalid_options: { title: "These options do not fit the file.", todo: OPTIONS },
  invalid_output: { title: "The output can't be saved there.", todo: "Choose another destination." },
  connection_required: {
    title: "No storage is connected.",
    todo: "Add a connection under Edge, then try again.",
  },
  token_missing: { title: "The service requires a key.", todo: KEY },
  token_invalid: { title: "The service does not know this key.", todo: KEY },
  forbidden: { title: "This key is not allowed to do that.", todo: KEY },
  task_not_found: { title: "The task no longer exists.", todo: "Convert the file again." },
  step_not_found: { title: "The task no longer exists.", todo: "Convert the file again." },
  job_not_found: { title: "The job no longer exists.", todo: "Convert the file again." },
  connection_not_found: {
    title: "That storage is no longer connected.",
    todo: "Add it again under Edge.",
  },
  endpoint_not_found: { title: "That webhook no longer exists.", todo: "Add it again under Edge." },
  delivery_not_found: { title: "That delivery no longer exists.", todo: "See the newest ones." },
  event_not_found: { title: "That event no longer exists.", todo: "See the newest ones." },
  key_not_found: { title: "That key no longer exists.", todo: KEY },
  media_not_found: { title: "The output no longer exists.", todo: "Convert the file again." },
  route_not_found: {
    title: "The service does not know this request.",
    todo: "Check its address under Edge; it may be older than this page.",
  },
  task_finished: { title: "This has already finished.", todo: "Convert the file again." },
  step_finished: { title: "This has already finished.", todo: "Convert the file again." },
  job_finished: { title: "This has already finished.", todo: "Convert the file again." },
  task_running: { title: "This is still running.", todo: "Wait for it to finish, or cancel it." },
  step_running: { title: "This is still running.", todo: "Wait for it to finish, or cancel it." },
  job_running: { title: "This is still running.", todo: "Wait for it to finish, or cancel it." },
  connection_in_use: { title: "That storage is in use.", todo: "Wait until nothing is being written to it." },
  endpoint_disabled: { title: "That webhook is turned off.", todo: "Turn it on under Edge." },
  idempotency_conflict: { title: "The same request is already in progress.", todo: AGAIN },
  idempotency_mismatch: { title: "The service has seen a different request with this key.", todo: AGAIN },
  payload_too_large: { title: "The request is too large for the service.", todo: OPTIONS },
  rate_limited: { title: "The service is busy.", todo: "Wait a minute, then try again." },
  internal_error: {
    title: "Something went wrong.",
    todo: "Try again. If it keeps happening, reload the page.",
  },
  service_unavailable: {
    title: "The service is not responding.",
    todo: "Check the connection under Edge, then try again.",
  },
  input_not_found: {
    title: "There is no file at this address.",
    todo: "Check the address, or add the file again.",
  },
  input_forbidden: {
    title: "This page is not allowed to read the file.",
    todo: "Its server does not give this page access. Download the file, then add it from your device.",
  },
  input_unreachable: {
    title: "This could not be reached.",
    todo: "Check the address and your connection. If its server does not let pages read it, download the file and add it from your device.",
  },
  input_changed: {
    title: "The file changed while it was in use.",
    todo: "Convert it again to use what it is now.",
  },
  input_too_large: { title: "This file is too large.", todo: "Trim it first, or use a smaller one." },
  input_unsupported: {
    title: "This file can't be read as media.",
    todo: "It may be damaged, an unsupported type, or not media. Add another file.",
  },
  input_no_video: {
    title: "This file has no readable video.",
    todo: "Choose audio as its output if it has sound, or add a file with a more common codec.",
  },
  input_no_audio: {
    title: "This file has no readable sound.",
    todo: "Choose video or a picture as its output.",
  },
  probe_failed: {
    title: "This file could not be inspected.",
    todo: "It may be damaged. Try again, or add another file.",
  },
  encoder_unavailable: {
    title: "This browser can't do that.",
    todo: "Choose another format or codec, or connect a service under Edge: it supports more of them.",
  },
  encode_failed: {
    title: "The conversion failed.",
    todo: "The file may be damaged. Try again with other options.",
  },
  encode_incomplete: {
    title: "Part of the video or its sound would have been lost.",
    todo: "The file is damaged where pictures or sound are missing. Trim that part away, or repair the file first.",
  },
  out_of_memory: {
    title: "There was not enough memory.",
    todo: "Close other tabs, or choose a smaller size, then try again.",
  },
  timeout: { title: "This took too long.", todo: "Try again with a smaller size or a shorter part." },
  stalled: { title: "The conversion stalled.", todo: AGAIN },
  upload_failed: { title: "The file could not be uploaded.", todo: "Check your connection, then try again." },
  upload_forbidden: {
    title: "The storage refused the file.",
    todo: "Check its connection, and the CORS rules of its bucket.",
  },
  storage_full: {
    title: "There is no space left.",
    todo: "Remove finished files from the queue or free space on this device, then try again.",
  },
  quota_exceeded: {
    title: "The service has processed as much for you today as it may.",
    todo: "Try again tomorrow, or convert on this device.",
  },
  worker_lost: { title: "The conversion was interrupted.", todo: AGAIN },
} as const satisfies Readonly<Record<ErrorKind, FaultWords>>;

const FILE_WORDS: Readonly<Partial<Record<ErrorKind, FaultWords>>> = {
  invalid_input: { title: "This file can't be used.", todo: "Add another." },
  input_not_found: { title: "This file no longer exists.", todo: GONE },
  input_forbidden: {
    title: "This page is not allowed to read the file.",
    todo: "Allow this page to read it, or add it again.",
  },
  input_unreachable: {
    title: "This file can no longer be read.",
    todo: "It was changed, moved or deleted, or the browser withdrew its permission. Add it again.",
  },
};

const REASON_WORDS: Readonly<Partial<Record<ErrorReason["code"], FaultWords>>> = {
  cut_off: {
    title: "This file is cut off.",
    todo: "Add a complete copy, or convert what is left.",
  },
};

/** Describes an error in detail: the refusals of the intended encoders, or else the reason, or else the error's own message. */
export function faultDetail(
  error: Pick<MediaError, "message"> & Partial<Pick<MediaError, "reason" | "refusals">>,
): string {
  const { message, reason, refusals = [] } = error;
  return explainRefusals(refusals) || (reason && reasonWords(reason)) || message;
}

/** Describes an error in plain words, for a URL or for a file; one of an unknown kind as an internal error. */
export function faultWords(
  { kind, reason }: { readonly kind: string; readonly reason?: ErrorReason | undefined },
  isFile = false,
): FaultWords {
  const errorKind = (ERROR_KINDS as readonly string[]).includes(kind)
    ? (kind as ErrorKind)
    : "internal_error";
  return (reason && REASON_WORDS[reason.code]) || (isFile && FILE_WORDS[errorKind]) || WORDS[errorKind];
}

const FIELDS: Readonly<Record<string, string>> = {
  input: "Address",
  "options.format": "Format",
  "options.codec": "Codec",
};

/** Describes the reason of an error in this page's words; null when the error's own message is as good. */
export function reasonWords(reason: ErrorReason): string | null {
  switch (reason.code) {
    case "field": {
      const field = reason.field.replace(/\.\d+\./, ".");
      const label = FIELDS[field] ?? optionLabel(field.replace("options.", ""));
      return label ? `${label} ${reason.rule}` : null;
    }
    case "playlist":
      return "The file is a playlist; add the media itself.";
    case "no_sound":
      return "The source has no sound.";
    case "no_pictures":
      return `${reason.kind === "image" ? "An image" : "Video"} needs pictures, and the source has none.`;
    case "still_image":
      return "The source is a still image.";
    case "cut_off":
      return `${reason.part === undefined ? "The file" : `Joined video ${reason.part}`} is cut off after ${reason.seconds} s; “Files that are cut off” converts what is left.`;
    case "start_beyond_end":
      return `Start (${reason.start}) must be before the end of the source (${reason.duration} s).`;
    case "size_not_positive":
      return "The file size must be a number above 0.";
    case "size_unbounded":
      return "A file size applies to video and sound only; here the size in pixels and the quality decide.";
    case "size_lossless":
      return `${reason.format} is lossless and has no bitrate; a file size needs mp3, aac, ogg or opus.`;
    case "size_unknown_duration":
      return "The duration of the source is unknown, so File size cannot be met; use bitrate.";
    case "bytes_too_few":
      return `The smallest result has ${reason.least_bytes} bytes, more than the ${reason.max_bytes} allowed.`;
    case "size_too_small":
      return `File size (${reason.bytes}) is too small for ${reason.duration} seconds with these options${reason.min_bytes === undefined ? "" : `; the minimum is ${reason.min_bytes}`}.`;
    case "tiff_layout":
    case "program_changes":
    case "after":
    case "no_answer":
      return null;
  }
}
