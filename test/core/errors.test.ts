import { expect, test } from "vitest";
import { ERROR_KINDS, MediaError, toMediaError } from "../../src/media/errors.ts";

test("an error carries its kind, message, param and cause", () => {
  const cause = new Error("why");
  const error = new MediaError("invalid_options", "Words.", { param: "options.fps", cause });
  expect(error).toBeInstanceOf(Error);
  expect({ ...error, message: error.message, cause: error.cause }).toEqual({
    name: "MediaError",
    kind: "invalid_options",
    refusals: [],
    message: "Words.",
    param: "options.fps",
    retryable: false,
    cause,
  });
});

test("only faults of the system are retryable by default", () => {
  const retryable = ERROR_KINDS.filter((kind) => new MediaError(kind, "").retryable);
  expect(retryable.toSorted()).toEqual([
    "idempotency_conflict",
    "input_unreachable",
    "internal_error",
    "rate_limited",
    "service_unavailable",
    "stalled",
    "timeout",
    "upload_failed",
    "worker_lost",
  ]);
  expect(new MediaError("timeout", "", { retryable: false }).retryable).toBe(false);
  expect(new MediaError("encode_failed", "", { retryable: true }).retryable).toBe(true);
});

test("every kind is listed once", () => {
  expect(new Set(ERROR_KINDS).size).toBe(ERROR_KINDS.length);
});

test("turns any thrown value into an error that keeps its cause but leaks no text", () => {
  const error = new MediaError("timeout", "Too slow.");
  expect(toMediaError(error)).toBe(error);
  for (const thrown of [new Error("secret"), "secret", null, undefined, { secret: 1 }]) {
    const error = toMediaError(thrown, "encode_failed");
    expect(error).toMatchObject({ kind: "encode_failed", param: undefined });
    expect(error.message).not.toContain("secret");
    expect(error.cause).toBe(thrown);
  }
  expect(toMediaError(new Error("x")).kind).toBe("internal_error");
});
