import { expect, test } from "vitest";
import { MediaError } from "../../../src/index.ts";
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
] as const)("%o is said in plain words", ([thrown, kind, words]) => {
  const { kind: said, message } = saveFault(thrown);
  expect([said, message]).toEqual([kind, expect.stringMatching(words)]);
});
