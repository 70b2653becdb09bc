import type { R2Bucket, R2ListOptions, R2UploadedPart } from "@cloudflare/workers-types";
import { fromBase64Url, toBase64Url, toHex } from "../../src/util/bytes.ts";
import { errors } from "../errors.ts";
import { createDiskFiles, type DiskBody, type DiskFile, type DiskService } from "./disk-files.ts";
import { diskPath, folderOf, keyOf } from "./disk-path.ts";

/** What is known of an object, and the files of its bytes in order. */
interface Entry {
  size: number;
  etag: string;
  mime: string | null;
  files: DiskFile[];
}

export type { DiskService } from "./disk-files.ts";

interface Options {
  httpMetadata?: { contentType?: string };
}

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const UPLOAD = new RegExp(`^(${UUID}) (.*)$`);
const PART = new RegExp(`^(\\d{1,5}-${UUID})\\.(\\d{1,15})$`);

/**
 * Offers a directory as the part of an R2 bucket that the service uses, on one machine: workerd reads and writes its files many
 * times faster than Miniflare's R2. An object is a small file below `keys/`, replaced as a whole, that names the files of its
 * bytes below `bytes/`.
 */
export function createDiskBucket(disk: DiskService): R2Bucket {
  const files = createDiskFiles(disk);
  const entryAt = (key: string) => `keys/${diskPath(key)}`;
  const bytesAt = (key: string) => `bytes/${diskPath(key)}`;

  async function readEntry(key: string): Promise<Entry | null> {
    const text = await files.read(entryAt(key));
    return text === null ? null : JSON.parse(text);
  }

  async function setEntry(key: string, mime: string | null, parts: DiskFile[]) {
    const old = await readEntry(key);
    const size = parts.reduce((sum, part) => sum + part.size, 0);
    const entry: Entry = {
      size,
      etag: toHex(crypto.getRandomValues(new Uint8Array(16))),
      mime,
      files: parts,
    };
    await files.write(entryAt(key), new TextEncoder().encode(JSON.stringify(entry)));
    // A caller that lost the answer completes the upload again, so the new entry may name the same files.
    for (const place of placesOf(key, old).difference(placesOf(key, entry))) await files.remove(place);
    return objectOf(key, entry);
  }

  // An upload's folder counts as a whole, because it holds every attempt at a part.
  function placesOf(key: string, entry: Entry | null): Set<string> {
    const whole = bytesAt(key);
    const places = entry?.files.map(({ path }) => {
      const folder = path.slice(0, path.lastIndexOf("/"));
      return folder === whole ? path : folder;
    });
    return new Set(places);
  }

  async function removeKey(key: string): Promise<void> {
    const entry = await readEntry(key);
    await files.remove(entryAt(key));
    for (const place of placesOf(key, entry)) await files.remove(place);
    // Of several that wrote the key at once, the entry names the last one's bytes alone. Folders are uploads that go on.
    for (const { name, type } of await files.list(bytesAt(key)))
      if (type === "file") await files.remove(`${bytesAt(key)}/${name}`);
  }

  // Includes keys with bytes but no entry, left by killed writes, because only listed keys are ever cleared.
  async function* keysIn(folder: string, prefix: string): AsyncGenerator<string> {
    const [keys, bytes] = await Promise.all([files.list(`keys/${folder}`), files.list(`bytes/${folder}`)]);
    const entries = new Set(keys.map(({ name }) => name));
    for (const name of [...entries.union(new Set(bytes.map(({ name }) => name)))].toSorted()) {
      const key = keyOf(folder + name);
      if (!name.endsWith("~")) yield* keysIn(`${folder}${name}/`, prefix);
      else if (key.startsWith(prefix) && (entries.has(name) || (await hasBytes(key)))) yield key;
    }
  }

  async function hasBytes(key: string): Promise<boolean> {
    return (await files.list(bytesAt(key))).some(({ type }) => type === "file");
  }

  function openUpload(key: string, uploadId: string) {
    const [, folder, mime = ""] = UPLOAD.exec(decode(uploadId)) ?? [];
    if (folder === undefined) throw errors.r2UploadMissing();
    const place = `${bytesAt(key)}/${folder}`;
    return {
      key,
      uploadId,
      async uploadPart(partNumber: number, body: DiskBody) {
        const name = `${partNumber}-${crypto.randomUUID()}`;
        const { size } = await files.write(`${place}/${name}`, body);
        return { partNumber, etag: `${name}.${size}` };
      },
      async complete(uploaded: R2UploadedPart[]) {
        const parts = uploaded.map(async ({ etag }) => {
          const [, name, digits] = PART.exec(etag) ?? [];
          const file = { path: `${place}/${name}`, size: Number(digits) };
          if (name !== undefined && (await files.size(file.path)) === file.size) return file;
          throw errors.r2PartMissing();
        });
        return setEntry(key, mime || null, await Promise.all(parts));
      },
      abort: () => files.remove(place),
    };
  }

  const bucket = {
    async head(key: string) {
      const entry = await readEntry(key);
      return entry && objectOf(key, entry);
    },
    async get(key: string, { range }: { range?: { offset: number; length: number } } = {}) {
      const entry = await readEntry(key);
      if (!entry) return null;
      const start = range?.offset ?? 0;
      if (range && start >= entry.size) throw errors.r2RangeInvalid();
      const end = Math.min(entry.size, start + (range?.length ?? entry.size));
      const body = await files.join(entry.files, start, end);
      const whole = () => new Response(body);
      return {
        ...{ ...objectOf(key, entry), body },
        arrayBuffer: () => whole().arrayBuffer(),
        text: () => whole().text(),
      };
    },
    async put(key: string, body: DiskBody, options?: Options) {
      const file = await files.write(`${bytesAt(key)}/${crypto.randomUUID()}`, body);
      return setEntry(key, options?.httpMetadata?.contentType ?? null, [file]);
    },
    async delete(keys: string | string[]) {
      for (const key of [keys].flat()) await removeKey(key);
    },
    async list({ prefix = "", limit = 1000, startAfter = "" }: R2ListOptions) {
      const objects: { key: string }[] = [];
      for await (const key of keysIn(folderOf(prefix), prefix)) {
        if (key <= startAfter) continue;
        objects.push({ key });
        if (objects.length === limit) break;
      }
      return { objects };
    },
    async createMultipartUpload(key: string, options?: Options) {
      const text = `${crypto.randomUUID()} ${options?.httpMetadata?.contentType ?? ""}`;
      return openUpload(key, toBase64Url(new TextEncoder().encode(text)));
    },
    resumeMultipartUpload: openUpload,
  };
  return bucket as unknown as R2Bucket;
}

function objectOf(key: string, { size, etag, mime }: Entry) {
  return { key, size, etag, httpMetadata: mime === null ? {} : { contentType: mime } };
}

function decode(uploadId: string): string {
  try {
    return new TextDecoder().decode(fromBase64Url(uploadId));
  } catch {
    return "";
  }
}
