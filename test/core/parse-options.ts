import type { EncodeKind } from "../../src/media/formats.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";

export function parseOptions(kind: EncodeKind, options: unknown) {
  return parseTaskRequest({ input: "https://example.com/a", kind, options }).options;
}
