import { type Operation, operation } from "./operation.ts";
import {
  UPLOAD,
  UPLOAD_COMPLETIONS,
  UPLOAD_IN_PARTS,
  UPLOAD_REQUESTS,
  UPLOAD_STORED,
} from "./upload-examples.ts";

const tag = "Uploads";
const one: Operation["parameters"] = [
  {
    name: "id",
    in: "path",
    required: true,
    description: "Id of the upload.",
    schema: { type: "string" },
    example: UPLOAD.id,
  },
];

/** `POST /uploads`. */
export const createUpload = operation({
  method: "post",
  path: "/uploads",
  operationId: "createUpload",
  creates: true,
  tag,
  summary: "Begin an upload",
  description:
    "Returns URLs with which a page that holds no key sends a file straight to storage: `PUT` each part's `size` bytes to its `url` with its `headers`, in any order, and again after a failure. Each URL is bound to that size and, for a file in one part, to its type. Then complete the upload.",
  body: { schema: "UploadRequest", examples: UPLOAD_REQUESTS },
  answers: {
    201: {
      description: "The upload, waiting for its parts.",
      schema: "Upload",
      examples: { one_part: UPLOAD, in_parts: UPLOAD_IN_PARTS },
    },
  },
  errors: [
    "request_invalid",
    "invalid_output",
    "connection_required",
    "connection_not_found",
    "payload_too_large",
    "quota_exceeded",
  ],
});

/** `GET /uploads/{id}`. */
export const getUpload = operation({
  method: "get",
  path: "/uploads/{id}",
  operationId: "getUpload",
  tag,
  summary: "Get an upload",
  parameters: one,
  answers: {
    200: {
      description: "The upload, with the URLs of its parts while it waits for them.",
      schema: "Upload",
      examples: { waiting: UPLOAD, stored: UPLOAD_STORED },
    },
  },
  errors: ["media_not_found", "connection_not_found", "request_invalid"],
});

/** `POST /uploads/{id}/complete`. */
export const completeUpload = operation({
  method: "post",
  path: "/uploads/{id}/complete",
  operationId: "completeUpload",
  tag,
  summary: "Complete an upload",
  description:
    "Assembles the file from its parts and checks its size; then the upload's `url` is an `input` of tasks. A repeated request returns the same upload.",
  parameters: one,
  body: { schema: "UploadCompletion", examples: UPLOAD_COMPLETIONS },
  answers: {
    200: { description: "The upload, stored.", schema: "Upload", examples: { stored: UPLOAD_STORED } },
  },
  errors: ["request_invalid", "media_not_found", "connection_not_found", "payload_too_large"],
});

/** `DELETE /uploads/{id}`. */
export const deleteUpload = operation({
  method: "delete",
  path: "/uploads/{id}",
  operationId: "deleteUpload",
  tag,
  summary: "Discard an upload",
  description:
    "Removes the parts that were sent, and a stored file in managed storage. An object in a bucket of your own stays.",
  parameters: one,
  answers: { 204: { description: "The upload is gone." } },
  errors: ["media_not_found"],
});
