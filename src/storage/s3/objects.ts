import { MediaError } from "../../media/errors.ts";
import type { StoredInfo } from "../../runs/ports.ts";
import { inParallel } from "../../util/async.ts";
import * as errors from "../errors.ts";
import { type HttpFile, openHttp } from "../http/reader.ts";
import { discard, type HttpOptions } from "../http/request.ts";
import { requirePrefix } from "../storage.ts";
import { childrenOf, createS3Bucket, type S3Bucket, type SendOptions, textOf, xmlText } from "./bucket.ts";
import type { S3Request, S3Signer } from "./s3-sign.ts";

export interface S3Part {
  /** Number of the part, from 1. */
  part: number;
  /** ETag without quotes. */
  etag: string;
  /** Size in bytes; null when not queried. */
  size: number | null;
}

/** A multipart upload in progress. */
export interface S3Upload {
  bucket: S3Bucket;
  /** Key of the future object. */
  key: string;
  /** The service's id of the upload. */
  id: string;
}

/** Maximum number of parts of an object. */
export const MAX_PARTS = 10_000;

/** The type of objects stored without one. */
export const UNKNOWN_TYPE = "application/octet-stream";

const WRITE: SendOptions = { purpose: "write" };

/** Begins a multipart upload. */
export async function beginUpload(
  bucket: S3Bucket,
  key: string,
  mime: string,
  signal?: AbortSignal,
): Promise<S3Upload> {
  const headers = { "content-type": mime };
  const request = { method: "POST", key, query: { uploads: "" }, headers } as const;
  const { xml } = await bucket.ask(request, { ...WRITE, signal });
  const id = xml ? textOf(xml, "UploadId") : "";
  if (id === "") throw errors.answerIncomplete({ lacks: "uploadId" });
  return { bucket, key, id };
}

/** Uploads a part, replacing an earlier one, and returns its ETag. */
export async function putPart(
  { bucket, key, id }: S3Upload,
  part: number,
  body: Uint8Array<ArrayBuffer> | Blob,
  signal?: AbortSignal,
): Promise<S3Part> {
  const query = { partNumber: String(part), uploadId: id };
  const { response } = await bucket.ask({ method: "PUT", key, query, body }, { ...WRITE, signal });
  return { part, etag: etagOf(response), size: body instanceof Blob ? body.size : body.length };
}

/** Lists the uploaded parts; null when the upload does not exist, `unknown` when the service cannot list parts. */
export async function listParts(
  { bucket, key, id }: S3Upload,
  signal?: AbortSignal,
): Promise<S3Part[] | null | "unknown"> {
  const parts: S3Part[] = [];
  for (let after = "0"; ; ) {
    const query = { uploadId: id, "part-number-marker": after };
    const options = { ...WRITE, signal, expected: [404, 501] };
    const { response, xml } = await bucket.ask({ method: "GET", key, query }, options);
    if (response.status === 404) return null;
    if (response.status === 501) return "unknown";
    if (!xml) throw errors.answerIncomplete({ lacks: "parts" });
    for (const each of childrenOf(xml, "Part")) {
      const [part, size] = [Number(textOf(each, "PartNumber")), Number(textOf(each, "Size"))];
      parts.push({ part, size, etag: bare(textOf(each, "ETag")) });
    }
    const next = textOf(xml, "NextPartNumberMarker");
    if (textOf(xml, "IsTruncated") !== "true" || next === after) return parts;
    after = next;
  }
}

/** Completes an upload of `size` bytes and returns what is stored; rejects with `upload_failed` when the stored size differs. */
export async function completeUpload(
  { bucket, key, id }: S3Upload,
  parts: readonly S3Part[],
  size: number,
  signal?: AbortSignal,
): Promise<StoredInfo> {
  const list = parts
    .toSorted((a, b) => a.part - b.part)
    .map(
      ({ part, etag }) =>
        `<Part><PartNumber>${part}</PartNumber><ETag>&quot;${xmlText(etag)}&quot;</ETag></Part>`,
    );
  const xml = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join("")}</CompleteMultipartUpload>`;
  const request: S3Request = {
    method: "POST",
    key,
    query: { uploadId: id },
    headers: { "content-type": "application/xml" },
    body: Uint8Array.from(new TextEncoder().encode(xml)),
  };
  const { response } = await bucket.ask(request, { ...WRITE, signal, expected: [404] });
  const info = await headObject(bucket, key, "write", signal);
  // If an earlier attempt succeeded but its response was lost, the upload is gone and the object exists.
  const done = response.ok || info?.etag.endsWith(`-${parts.length}`);
  if (done && info?.size === size) return info;
  if (!response.ok) throw errors.uploadAborted();
  throw errors.uploadIncomplete({ size, storedBytes: info?.size ?? 0 });
}

/**
 * Aborts an upload and removes its parts; if the service cannot be reached, the bucket's lifecycle rules must clean up. Never
 * rejects.
 */
export async function abortUpload({ bucket, key, id }: S3Upload): Promise<void> {
  const request = { method: "DELETE", key, query: { uploadId: id } } as const;
  await bucket.ask(request, { ...WRITE, expected: [404] }).catch(() => {});
}

/** Stores an object in one request and returns what is stored. */
export async function putObject(
  bucket: S3Bucket,
  key: string,
  body: Uint8Array<ArrayBuffer> | Blob,
  mime: string,
  signal?: AbortSignal,
): Promise<StoredInfo> {
  const request = { method: "PUT", key, headers: { "content-type": mime }, body } as const;
  const { response } = await bucket.ask(request, { ...WRITE, signal });
  return { size: body instanceof Blob ? body.size : body.length, etag: etagOf(response), mime };
}

/** Returns an object's metadata; null when it does not exist. */
export async function headObject(
  bucket: S3Bucket,
  key: string,
  purpose: SendOptions["purpose"],
  signal?: AbortSignal,
): Promise<StoredInfo | null> {
  const response = await bucket.send({ method: "HEAD", key }, { purpose, signal, expected: [404] });
  await discard(response);
  if (response.status === 404) return null;
  const size = Number(response.headers.get("content-length"));
  return { size, etag: etagOf(response), mime: response.headers.get("content-type") ?? UNKNOWN_TYPE };
}

/** Returns the ETag of a response without quotes; rejects with `upload_failed` when a page cannot see it. */
export function etagOf({ headers }: Response): string {
  const etag = bare(headers.get("etag") ?? "");
  if (etag !== "") return etag;
  throw errors.etagHidden();
}

function bare(etag: string): string {
  return etag.replace(/^W\//, "").replaceAll('"', "");
}

const DELETES_AT_ONCE = 16;

async function* listKeys(bucket: S3Bucket, prefix: string): AsyncGenerator<string[]> {
  for (let after = ""; ; ) {
    const query = {
      "list-type": "2",
      // Keys may contain characters that XML cannot.
      "encoding-type": "url",
      prefix,
      ...(after !== "" && { "continuation-token": after }),
    };
    const { xml } = await bucket.ask({ method: "GET", key: "", query }, WRITE);
    if (!xml) throw errors.answerIncomplete({ lacks: "keys" });
    const encoded = textOf(xml, "EncodingType") === "url";
    yield childrenOf(xml, "Contents").map((each) => {
      const key = textOf(each, "Key");
      return encoded ? decodeURIComponent(key.replaceAll("+", " ")) : key;
    });
    const next = textOf(xml, "NextContinuationToken");
    if (textOf(xml, "IsTruncated") !== "true" || next === "" || next === after) return;
    after = next;
  }
}

/**
 * Deletes every object whose key starts with a prefix, one by one: deleting many at once requires an MD5, which browsers
 * cannot compute.
 */
export async function clearObjects(bucket: S3Bucket, prefix: string): Promise<void> {
  requirePrefix(prefix);
  for await (const keys of listKeys(bucket, prefix)) {
    // Some servers ignore a prefix that they do not understand.
    const matches = keys.filter((key) => key.startsWith(prefix));
    await inParallel(matches, DELETES_AT_ONCE, async (key) => {
      await bucket.ask({ method: "DELETE", key }, { ...WRITE, expected: [404] });
    });
  }
}

const EXPLAINED_KINDS = new Set(["input_forbidden", "input_not_found", "input_unreachable"]);

/**
 * Opens an object as a source by signed range requests, and resumes a broken body. Rejects as `openHttp` does, with the
 * service's reason when it refuses access.
 */
export async function openS3(
  signer: S3Signer,
  key: string,
  options: Omit<HttpOptions, "guard">,
): Promise<HttpFile> {
  const open = () => openHttp(`s3://${signer.bucket}/`, signedOptions(signer, key, options));
  try {
    return await open();
  } catch (thrown) {
    if (!(thrown instanceof MediaError && EXPLAINED_KINDS.has(thrown.kind) && !thrown.retryable))
      throw thrown;
    // This request returns the reason, and corrects a wrong clock.
    const read = { purpose: "read", signal: options.signal } as const;
    const bucket = createS3Bucket(signer, { fetch: options.fetch, tries: 2 });
    await discard(await bucket.send({ method: "GET", key, headers: { range: "bytes=0-0" } }, read));
    return open();
  }
}

/** Returns options that read one object whatever the URL; each request is signed anew, because signatures expire. */
export function signedOptions(
  signer: S3Signer,
  key: string,
  options: Omit<HttpOptions, "guard">,
): HttpOptions {
  return {
    ...options,
    async fetch(_, { headers, ...init }) {
      const signed = await signer.sign({ method: "GET", key });
      return options.fetch(signed.url, {
        ...init,
        headers: { ...(headers as Record<string, string>), ...signed.headers },
      });
    },
    guard: null,
  };
}
