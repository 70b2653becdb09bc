import { KIB, MIB } from "../../src/util/bytes.ts";
import * as errors from "../errors.ts";

/** Size limit of a request body, in bytes. */
export const MAX_BODY_BYTES = 256 * KIB;
// Clients do not read the response while they still send, so a little more is read and discarded.
const DISCARDED_BYTES = 8 * MIB;
/** Limit of nested objects and arrays in a request body. */
export const MAX_BODY_DEPTH = 32;

/** Reads the JSON body of a request; throws `request_invalid` when it is not JSON, `payload_too_large` when it is too long. */
export async function readJson(request: Request): Promise<unknown> {
  checkContentType(request.headers.get("Content-Type"));
  const bytes = await readBytes(request);
  if (bytes.length === 0) throw errors.emptyBody();
  const value = parse(decode(bytes));
  if (isDeeper(value, MAX_BODY_DEPTH)) throw errors.deepBody({ max_levels: MAX_BODY_DEPTH });
  return value;
}

function checkContentType(header: string | null): void {
  const [type, ...parameters] = (header ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  if (type !== "application/json") throw errors.notJsonType();
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8);
  if (charset !== undefined && !["utf-8", '"utf-8"', "utf8"].includes(charset)) {
    throw errors.notUtf8Charset();
  }
}

/** Reads the body of a request, empty when it has none. Throws `payload_too_large` when it is too long, even without a Content-Length. */
export async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(request.headers.get("Content-Length")) > MAX_BODY_BYTES)
    throw errors.largeBody({ max_bytes: MAX_BODY_BYTES });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES + DISCARDED_BYTES) break;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (length > MAX_BODY_BYTES) throw errors.largeBody({ max_bytes: MAX_BODY_BYTES });
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw errors.notUtf8();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw errors.notJson();
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
