import { ERROR_KINDS, type ErrorKind } from "../../src/index.ts";

/** A fault in plain words: what is wrong, and what to do next. */
export interface FaultWords {
  readonly title: string;
  readonly todo: string;
}

const OPTIONS = "Change the options and convert it again.";
const KEY = "Connect the service again under Edge, with a key that is allowed to do this.";
const GONE = "Remove it and add the file again.";
const AGAIN = "Try again.";

// Closed: a new kind of error has to be given its words here.
const WORDS = {
  request_invalid: { title: "This request was not understood.", todo: OPTIONS },
  input_required: { title: "There is no file to work on.", todo: GONE },
  invalid_input: { title: "This file or address cannot be taken.", todo: "Check it, or add another one." },
  invalid_kind: { title: "This kind of file cannot become that.", todo: OPTIONS },
  invalid_format: { title: "That format is not known here.", todo: OPTIONS },
  invalid_codec: { title: "That codec does not go with that format.", todo: OPTIONS },
  invalid_options: { title: "These options do not fit the file.", todo: OPTIONS },
  invalid_output: { title: "The output cannot go to that place.", todo: "Choose another destination." },
  connection_required: {
    title: "No storage is connected.",
    todo: "Add a connection under Edge, then try again.",
  },
  token_missing: { title: "The service wants a key.", todo: KEY },
  token_invalid: { title: "The service does not know this key.", todo: KEY },
  forbidden: { title: "This key may not do that.", todo: KEY },
  task_not_found: { title: "The task is not there any more.", todo: "Convert the file again." },
  step_not_found: { title: "The task is not there any more.", todo: "Convert the file again." },
  connection_not_found: {
    title: "That storage is not connected any more.",
    todo: "Add it again under Edge.",
  },
  endpoint_not_found: { title: "That webhook is not there any more.", todo: "Add it again under Edge." },
  delivery_not_found: { title: "That delivery is not there any more.", todo: "Look at the newest ones." },
  event_not_found: { title: "That event is not there any more.", todo: "Look at the newest ones." },
  key_not_found: { title: "That key is not there any more.", todo: KEY },
  media_not_found: { title: "The output is not there any more.", todo: "Convert the file again." },
  route_not_found: {
    title: "The service does not know this request.",
    todo: "Check its address under Edge; it may be older than this page.",
  },
  task_finished: { title: "This has ended already.", todo: "Convert the file again." },
  step_finished: { title: "This has ended already.", todo: "Convert the file again." },
  task_running: { title: "This still runs.", todo: "Wait for it to end, or cancel it." },
  connection_in_use: { title: "That storage is in use.", todo: "Wait until nothing is written to it." },
  endpoint_disabled: { title: "That webhook is switched off.", todo: "Switch it on under Edge." },
  idempotency_conflict: { title: "The same request is under way.", todo: AGAIN },
  idempotency_mismatch: { title: "The service had another request by this name.", todo: AGAIN },
  payload_too_large: { title: "The request is too large for the service.", todo: OPTIONS },
  rate_limited: { title: "The service has too much to do.", todo: "Wait a minute, then try again." },
  internal_error: {
    title: "Something failed that should not.",
    todo: "Try again; if it stays, reload the page.",
  },
  service_unavailable: {
    title: "The service does not answer.",
    todo: "Check the connection under Edge, then try again.",
  },
  input_not_found: {
    title: "There is no file at this place.",
    todo: "Check the address, or add the file again.",
  },
  input_forbidden: {
    title: "This file may not be read.",
    todo: "Its server asks for a permission that this page does not have. Download the file, and add it from there.",
  },
  input_unreachable: {
    title: "This could not be reached.",
    todo: "Check the address and your connection. Its server may not let pages read it: then download the file, and add it from there.",
  },
  input_too_large: { title: "This file is too large.", todo: "Trim it first, or use a smaller one." },
  input_unsupported: {
    title: "This cannot be read as media.",
    todo: "It may be damaged, of a sort that is not known here, or no video, sound or picture at all. Add another file.",
  },
  input_no_video: {
    title: "There are no pictures in this file that can be read.",
    todo: "If there is sound, choose that as its output; else add a file with a codec that is better known.",
  },
  input_no_audio: {
    title: "There is no sound in this file that can be read.",
    todo: "Choose video or a picture as its output.",
  },
  probe_failed: {
    title: "This file could not be looked into.",
    todo: "It may be damaged. Try again, or add another file.",
  },
  encoder_unavailable: {
    title: "This browser cannot do that.",
    todo: "Choose another format or codec. What a browser cannot read or make at all, a service may: connect one under Edge.",
  },
  encode_failed: {
    title: "The conversion failed.",
    todo: "The file may be damaged. Try again with other options.",
  },
  out_of_memory: {
    title: "There was not enough memory.",
    todo: "Close other tabs, or choose a smaller size, then try again.",
  },
  timeout: { title: "This took too long.", todo: "Try again with a smaller size or a shorter stretch." },
  stalled: { title: "This did not go on.", todo: AGAIN },
  upload_failed: { title: "The file could not be sent.", todo: "Check your connection, then try again." },
  upload_forbidden: {
    title: "The storage does not let the file in.",
    todo: "Check its connection, and the CORS rules of its bucket.",
  },
  storage_full: {
    title: "There is no room left.",
    todo: "Remove what is done from the queue, or free room on this device, then try again.",
  },
  worker_lost: { title: "The conversion broke off.", todo: AGAIN },
} as const satisfies Readonly<Record<ErrorKind, FaultWords>>;

/** Says what those who failed say, without the encoders that were never meant for it. */
export function faultDetail(message: string): string {
  const [, listed] = /^No encoder here can do this \((.+)\)\.$/.exec(message) ?? [];
  const reasons = (listed?.split("; ") ?? []).filter((part) => !/^[\w-]+: it (only|is for) /.test(part));
  const plain = [...new Set(reasons.map((part) => part.replace(/^[\w-]+: /, "")))].join("; ");
  return plain === "" ? message : `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`;
}

/** Says a fault of any kind in plain words; a kind that this page does not know is said as one that should not be. */
export function faultWords(kind: string): FaultWords {
  return WORDS[(ERROR_KINDS as readonly string[]).includes(kind) ? (kind as ErrorKind) : "internal_error"];
}
