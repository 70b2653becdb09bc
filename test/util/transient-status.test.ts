import { expect, test } from "vitest";
import { isTransient } from "../../src/util/retry.ts";

test("only what may pass is transient", () => {
  const statuses = Array.from({ length: 600 }, (_, status) => status);
  expect(statuses.filter(isTransient)).toEqual([408, 425, 429, 500, 502, 503, 504]);
});
