import type { RequestErrorKind } from "../../src/core/errors.ts";

/** One example of every error that a request can be answered with. */
export const ERROR_EXAMPLES = {
  request_invalid: {
    message: 'Unknown field "inputs"; the fields are input, kind, options, metadata, output, webhook_url.',
    param: "inputs",
  },
  input_required: { message: "input is required: the URL of the source.", param: "input" },
  invalid_input: {
    message: "input must be a URL that starts with http://, https://, s3://.",
    param: "input",
  },
  invalid_kind: {
    message:
      'Unknown kind "movie"; use video, audio, image, animation, storyboard, waveform, adaptive_video.',
    param: "kind",
  },
  invalid_format: {
    message: "options.format must be one of mp4, webm, mov for video.",
    param: "options.format",
  },
  invalid_codec: { message: "webm cannot hold h264 here; use vp9, av1.", param: "options.codec" },
  invalid_options: { message: "options.fps must be a number from 1 to 60.", param: "options.fps" },
  invalid_output: { message: "output must have the shape s3://<bucket>/<key>.", param: "output" },
  connection_required: {
    message: "An S3 output needs a stored connection, and there is none.",
    param: "output",
  },
  token_missing: { message: "The Authorization header is missing; send Bearer <API_KEY>." },
  token_invalid: { message: "The API key is not valid; send Bearer <API_KEY>." },
  forbidden: { message: "The media URL is not one of ours or has expired." },
  task_not_found: { message: "There is no task with that id." },
  step_not_found: { message: "There is no step with that id." },
  job_not_found: { message: "There is no job with that id." },
  connection_not_found: { message: "There is no connection with that id.", param: "options.connection_id" },
  endpoint_not_found: { message: "There is no endpoint with that id." },
  delivery_not_found: { message: "There is no delivery with that id." },
  key_not_found: { message: "There is no key with that id." },
  event_not_found: { message: "There is no event with that id." },
  media_not_found: { message: "There is no such file; outputs are kept for a limited time." },
  route_not_found: { message: "There is no /task. See /docs for what there is." },
  task_finished: { message: "The task is finished and cannot be cancelled." },
  job_finished: { message: "The job is finished and cannot be cancelled." },
  step_finished: { message: "The step is finished and cannot be cancelled." },
  task_running: { message: "The task still runs; cancel it first." },
  job_running: { message: "The job still runs; cancel it first." },
  step_running: { message: "The step still runs; cancel it first." },
  connection_in_use: { message: "Running tasks use the connection." },
  endpoint_disabled: { message: "The endpoint of the delivery is disabled; enable it first." },
  idempotency_conflict: { message: "A request with this Idempotency-Key is still being answered." },
  idempotency_mismatch: { message: "This Idempotency-Key was used with another body." },
  payload_too_large: { message: "The body must not exceed 262144 bytes." },
  rate_limited: { message: "A key may make 300 requests a minute; try again in 12 seconds." },
  quota_exceeded: {
    message:
      "This project has used up the bytes that it may store in a day, or they do not suffice for this; the day ends at midnight UTC.",
  },
  internal_error: {
    message: "Something failed on our side; try again, and name the request id if it persists.",
  },
  service_unavailable: { message: "The service cannot answer at the moment; try again." },
} as const satisfies Record<RequestErrorKind, { message: string; param?: string }>;

/** What `forbidden` says where a key is needed. */
export const SCOPE_LACKING = { message: "The key lacks the scope write, which this needs." } as const;

/** The request id of the examples. */
export const EXAMPLE_REQUEST_ID = "req_01kaggm8q0fzr2n5v3x7c1d9ja";
