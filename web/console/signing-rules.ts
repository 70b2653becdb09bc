import { SIGNED_METHODS, type SigningRule } from "../../src/client/index.ts";
import { MediaError } from "../../src/index.ts";

/** Writes rules as lines such as `GET,PUT my-bucket/films/`. */
export function writeSigning(rules: readonly SigningRule[]): string {
  return rules.map(({ bucket, prefix = "", methods }) => `${methods.join()} ${bucket}/${prefix}`).join("\n");
}

/** Parses the lines that {@link writeSigning} writes; throws `request_invalid` with a message for the visitor. */
export function parseSigning(text: string): SigningRule[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const [, given = "", bucket, prefix = ""] = /^\s*(\S+)\s+([^/\s]+)\/?(.*?)\s*$/.exec(line) ?? [];
    const names = given.toUpperCase().split(",");
    const methods = SIGNED_METHODS.filter((method) => names.includes(method));
    if (bucket !== undefined && methods.length === names.length) return { bucket, prefix, methods };
    const message = `Write each line as GET,PUT my-bucket/films/, with ${SIGNED_METHODS.join(", ")} or several of them.`;
    throw new MediaError("request_invalid", message, { param: "signing" });
  });
}
