import { expect, test } from "vitest";
import { MediaError } from "../../src/index.ts";
import { saveFault } from "./operation.tsx";

test.for([
  { thrown: new DOMException("", "QuotaExceededError"), kind: "storage_full", pattern: /disk is full/ },
  {
    thrown: new DOMException("", "NotAllowedError"),
    kind: "forbidden",
    pattern: /not allowed to write there/,
  },
  {
    thrown: new DOMException("", "NoModificationAllowedError"),
    kind: "forbidden",
    pattern: /Choose another folder/,
  },
  {
    thrown: new DOMException("", "NotFoundError"),
    kind: "upload_failed",
    pattern: /folder no longer exists/,
  },
  {
    thrown: new TypeError("network error at https://secret.example"),
    kind: "upload_failed",
    pattern: /^The file could not be written/,
  },
  {
    thrown: new MediaError("media_not_found", "It is gone."),
    kind: "media_not_found",
    pattern: /^It is gone\.$/,
  },
] as const)("$thrown becomes a clear error", ({ thrown, kind, pattern }) => {
  const fault = saveFault(thrown);
  expect([fault.kind, fault.message]).toEqual([kind, expect.stringMatching(pattern)]);
});
