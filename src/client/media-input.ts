import { mapExtraInputs } from "../media/extra-inputs.ts";
import { decodeUri } from "../util/text.ts";
import * as errors from "./errors.ts";

/** Media that can be stored and passed again: a URL (http, https, s3, `data:`, or relative to the page), or a visitor's file. */
export type MediaInput = string | Blob | FileSystemFileHandle;

/** Media in any form that a client accepts; a Response or stream is read once, when the run is created. */
export type AnyMedia =
  | MediaInput
  | URL
  | ArrayBuffer
  | ArrayBufferView
  | Response
  | ReadableStream<Uint8Array>;

/** A request that can be sent as JSON, and the file that is its input. */
export interface RequestWithFiles {
  /** `input` is a URL, or for a step an object with one; null when there is only a file. */
  request: unknown;
  file: Blob | FileSystemFileHandle | null;
  /** The files among its extra inputs, by the paths of their URLs; those URLs are null in `request`. */
  extra: ReadonlyMap<string, Blob | FileSystemFileHandle>;
}

interface MediaParts {
  input: unknown;
  file: Blob | FileSystemFileHandle | null;
}

const BUFFER_BYTES = 8_388_608;

/**
 * Reads the input of a request: makes URLs absolute, and turns bytes in any form into a file. Reads a Response or stream to
 * its end. Leaves missing or malformed fields to the request parser. Rejects with `request_invalid` for a value that is
 * not media, `invalid_input` for bytes that can no longer be read, and `input_unreachable` when a stream breaks off.
 */
export async function readInput(object: "task" | "step", request: unknown): Promise<RequestWithFiles> {
  if (typeof request !== "object" || request === null) return { request, file: null, extra: new Map() };
  const { request: withUrls, extra } = await readExtra(request);
  return { ...(await readMain(object, withUrls)), extra };
}

async function readMain(
  object: "task" | "step",
  request: object,
): Promise<Pick<RequestWithFiles, "request" | "file">> {
  const media: unknown = Reflect.get(request, "input");
  if (media === undefined || media === null) return { request, file: null };
  if (object === "task" && tagOf(media) === "Object" && !isHandle(media))
    throw errors.notMedia({ type: typeOf(media) });
  const { input, file } = await readMedia(media);
  const isText = object === "step" && typeof input === "string";
  return { request: { ...request, input: isText ? { url: input } : input }, file };
}

async function readExtra(request: {
  options?: unknown;
}): Promise<Pick<RequestWithFiles, "extra"> & { request: object }> {
  const media = new Map<string, unknown>();
  mapExtraInputs(request, (url, _, param) => {
    const isOther = (typeof url !== "object" && typeof url !== "string") || url === null;
    if (!isOther && (tagOf(url) !== "Object" || isHandle(url))) media.set(param, url);
    return url;
  });
  const extra = new Map<string, Blob | FileSystemFileHandle>();
  const urls = new Map<string, unknown>();
  for (const [param, url] of media) {
    const { input, file } = await readMedia(url);
    if (file) extra.set(param, file);
    urls.set(param, file ? null : input);
  }
  const withUrls = mapExtraInputs(request, (url, _, param) => (urls.has(param) ? urls.get(param) : url));
  return { request: withUrls, extra };
}

async function readMedia(input: unknown): Promise<MediaParts> {
  if (typeof input === "string") return readUrl(input);
  const tag = tagOf(input);
  if (tag === "URL") return readUrl(String(input));
  if (tag === "Blob" || tag === "File" || isHandle(input)) return { input: null, file: input as Blob };
  if (tag === "Response") return { input: null, file: await readResponse(input as Response) };
  if (tag === "ReadableStream") {
    return { input: null, file: await readStream(input as ReadableStream<unknown>, "") };
  }
  if (ArrayBuffer.isView(input) || tag.endsWith("ArrayBuffer")) {
    return { input: null, file: new Blob([bytesOf(input as ArrayBuffer)]) };
  }
  if (tag !== "Object") throw errors.notMedia({ type: typeOf(input) });
  const { url } = input as { url?: unknown };
  if (typeof url !== "string" && tagOf(url) !== "URL") return { input, file: null };
  const media = await readUrl(String(url));
  return { ...media, input: { ...(input as object), url: media.input ?? String(url) } };
}

async function readUrl(text: string): Promise<MediaParts> {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0].toLowerCase();
  if (scheme === "data:") return { input: null, file: readDataUrl(text) };
  if (scheme === "blob:") {
    const response = await fetch(text).catch(() => null);
    if (response?.ok) return { input: null, file: await response.blob() };
  }
  const base: unknown = Object(Reflect.get(globalThis, "document")).baseURI ?? globalThis.location?.href;
  const isRelative = scheme === undefined && text !== "" && !/\p{Cc}/u.test(text);
  const absolute = isRelative ? URL.parse(text, String(base)) : null;
  return { input: absolute?.href ?? text, file: null };
}

/**
 * Decodes a `data:` URL without fetch, which a page's content security policy may block.
 *
 * @throws `invalid_input` if the URL is malformed.
 */
export function readDataUrl(text: string): Blob {
  const [, type = "", base64, data] = /^data:([^,]*?)(;base64)?,(.*)$/is.exec(text) ?? [];
  if (data === undefined) throw errors.dataUrlMalformed();
  try {
    const binary = data
      .replaceAll(/[\u0080-\uffff]+/g, encodeURIComponent)
      .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    const bytes = Uint8Array.from(base64 ? atob(binary) : binary, (each) => each.charCodeAt(0));
    return new Blob([bytes], { type });
  } catch (cause) {
    throw errors.dataUrlMalformed({ cause });
  }
}

function bytesOf(input: ArrayBufferLike | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const buffer = ArrayBuffer.isView(input) ? input.buffer : input;
  if ("detached" in buffer && buffer.detached) throw errors.bufferDetached();
  const [start, length] = ArrayBuffer.isView(input) ? [input.byteOffset, input.byteLength] : [0, undefined];
  // Blobs reject shared memory.
  return new Uint8Array(buffer, start, length).slice();
}

async function readResponse(response: Response): Promise<File> {
  if (response.type === "opaque") throw errors.responseOpaque();
  if (!response.ok) throw errors.responseFailed({ status: response.status });
  if (response.bodyUsed) throw errors.responseUsed();
  const type = response.headers.get("Content-Type") ?? "";
  const blob = response.body ? await readStream(response.body, type) : new Blob([], { type });
  const name = URL.parse(response.url)?.pathname.split("/").at(-1) ?? "";
  return new File([blob], decodeUri(name), { type });
}

async function readStream(stream: ReadableStream<unknown>, type: string): Promise<Blob> {
  if (stream.locked) throw errors.streamLocked();
  // Only the Response constructor reveals that bytes were read before.
  try {
    new Response(stream as ReadableStream<Uint8Array>);
  } catch (cause) {
    throw errors.streamUsed({ cause });
  }
  const reader = stream.getReader();
  const parts: Blob[] = [];
  let chunks: BlobPart[] = [];
  let buffered = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw errors.streamBroken({ cause });
    });
    if (done) return new Blob([...parts, ...chunks], { type });
    if (!ArrayBuffer.isView(value)) {
      await reader.cancel().catch(() => {});
      throw errors.streamNotBytes({ type: typeOf(value) });
    }
    chunks.push(value as BlobPart);
    buffered += value.byteLength;
    if (buffered < BUFFER_BYTES) continue;
    parts.push(new Blob(chunks));
    chunks = [];
    buffered = 0;
  }
}

// Objects from another frame are not instances of this frame's classes.
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

function typeOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value;
  return tagOf(value) === "Object" ? (value.constructor?.name ?? "Object") : tagOf(value);
}

function isHandle(input: unknown): input is FileSystemFileHandle {
  return typeof input === "object" && input !== null && "getFile" in input;
}

/** Opens a visitor's file; rejects with `input_unreachable` and advice when a handle does not allow reading it. */
export async function openFile(file: Blob | FileSystemFileHandle): Promise<Blob> {
  try {
    return "getFile" in file ? await file.getFile() : file;
  } catch (cause) {
    throw errors.fileUnreadable({ name: nameOf(file), cause });
  }
}

/** Returns the name of a visitor's file; `blob` when it has none. */
export function nameOf(file: Blob | FileSystemFileHandle): string {
  return "name" in file && typeof file.name === "string" && file.name !== "" ? file.name : "blob";
}
