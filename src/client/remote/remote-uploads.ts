import { Upload, type UploadCompletion, type UploadPart } from "../../core/upload.ts";
import { sideBySide } from "../../util/async.ts";
import type { SendOptions } from "../client.ts";
import { openFile } from "../media-input.ts";
import type { Call, Fetch } from "./http.ts";
import { putPart } from "./put-part.ts";
import type { Uploads } from "./remote-client.ts";
import { createRecords } from "./rest.ts";

// A browser's connections to one host, minus two for the page's other requests.
const PARTS_AT_ONCE = 4;

/** Creates the part of a client that uploads files, with XMLHttpRequest when `fetch` is null. */
export function createRemoteUploads(call: Call, fetch: Fetch | null): Uploads {
  const uploads = createRecords(call, "upload", Upload);
  const complete = (id: string, body: UploadCompletion = {}, signal?: AbortSignal) =>
    uploads.act(id, "complete", { body, signal, repeats: true });

  async function send(given: Blob | FileSystemFileHandle, options: SendOptions = {}): Promise<Upload> {
    const { signal, onProgress, ...wish } = options;
    signal?.throwIfAborted();
    const file = await openFile(given);
    const { size } = file;
    const upload = await uploads.create({ ...descriptionOf(file), ...wish, size });
    const stop = new AbortController();
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    const sent = new Map<number, number>();
    const note = (part: number, bytes: number) => {
      sent.set(part, Math.max(sent.get(part) ?? 0, bytes));
      const all = [...sent.values()].reduce((sum, each) => sum + each, 0);
      onProgress?.(Math.min(size, all), size);
    };
    try {
      const parts = await putAll(
        placed(upload.parts),
        ({ part, start, ...rest }) =>
          putPart({ part, ...rest }, file.slice(start, start + rest.size), {
            ...{ fetch, signal: either },
            onSent: (bytes) => note(part, bytes),
          }),
        (thrown) => stop.abort(thrown),
      );
      either.throwIfAborted();
      return await complete(upload.id, completionOf(parts), either);
    } catch (thrown) {
      stop.abort();
      await uploads.delete(upload.id).catch(() => {});
      throw thrown;
    }
  }

  return {
    send,
    create: (request) => uploads.create(request),
    get: uploads.get,
    complete: (id, body) => complete(id, body),
    delete: uploads.delete,
  };
}

function descriptionOf(file: Blob): { content_type: string; name?: string } {
  const [type = ""] = file.type.split(";");
  const content_type = type.trim() || "application/octet-stream";
  return "name" in file && typeof file.name === "string" && file.name !== ""
    ? { content_type, name: file.name }
    : { content_type };
}

// When the page may not read ETags, the service gets them from the storage.
function completionOf(parts: readonly { part: number; etag: string | null }[]): UploadCompletion {
  const known = parts.flatMap(({ part, etag }) => (etag === null ? [] : [{ part, etag }]));
  return known.length === parts.length ? { parts: known } : {};
}

type PlacedPart = UploadPart & { start: number };

function placed(parts: readonly UploadPart[]): PlacedPart[] {
  let start = 0;
  return parts.map((part) => {
    const at = start;
    start += part.size;
    return { ...part, start: at };
  });
}

async function putAll(
  parts: readonly PlacedPart[],
  put: (part: PlacedPart) => Promise<string | null>,
  onFailure: (thrown: unknown) => void,
): Promise<{ part: number; etag: string | null }[]> {
  const done: { part: number; etag: string | null }[] = [];
  const putOne = async (part: PlacedPart) => void done.push({ part: part.part, etag: await put(part) });
  await sideBySide(parts, PARTS_AT_ONCE, putOne, onFailure);
  return done.sort((a, b) => a.part - b.part);
}
