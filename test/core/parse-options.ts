import type { EncodeKind } from "../../src/core/formats.ts";
import { parseTaskRequest } from "../../src/core/requests.ts";

/** Parses the options of a task of a kind. */
export function parseOptions(kind: EncodeKind, options: unknown) {
  return parseTaskRequest({ input: "https://example.com/a", kind, options }).options;
}
