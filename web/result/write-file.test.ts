import { expect, test } from "vitest";
import { MediaError } from "../../src/index.ts";
import { saveFault } from "./write-file.ts";

test.for([
  [new DOMException("", "QuotaExceededError"), "storage_full", /disk is full/],
  [new DOMException("", "NotAllowedError"), "forbidden", /not allowed to write there/],
  [new DOMException("", "NoModificationAllowedError"), "forbidden", /Choose another folder/],
  [new DOMException("", "NotFoundError"), "upload_failed", /folder no longer exists/],
  [
    new TypeError("network error at https://secret.example"),
    "upload_failed",
    /^The file could not be written/,
  ],
  [new MediaError("media_not_found", "It is gone."), "media_not_found", /^It is gone\.$/],
] as const)("%o becomes a clear error", ([thrown, kind, pattern]) => {
  const fault = saveFault(thrown);
  expect([fault.kind, fault.message]).toEqual([kind, expect.stringMatching(pattern)]);
});
