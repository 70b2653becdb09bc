import { MediaError } from "../core/errors.ts";

/** Returns what storage holds of an encoded file: its metadata or its bytes. Throws an error of the kind when it holds nothing. */
export function requireEncoded<T>(
  found: T | null,
  kind: "encode_failed" | "upload_failed" = "encode_failed",
): T {
  if (found === null) throw new MediaError(kind, "The encoded file is no longer in storage.");
  return found;
}
