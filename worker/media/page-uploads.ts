import { isId } from "../../src/runs/ids.ts";
import { UPLOAD_SECONDS, type Upload, type UploadRequest } from "../../src/runs/upload.ts";
import * as errors from "../errors.ts";
import type { PartSigner } from "./signed-urls.ts";
import {
  type UploadEntry,
  type UploadedPart,
  type UploadHome,
  type UploadPlace,
  type Uploads,
  uploadKey,
} from "./uploads.ts";

/** Uploads from pages straight to storage, each in its project. Unknown uploads, and those of other projects, reject with `media_not_found`. */
export interface PageUploads {
  /** Begins an upload. */
  create(project: string, upload: NewUpload): Promise<Upload>;
  get(project: string, id: string): Promise<Upload>;
  /** Assembles the file, or returns the upload if that is done. Rejects with `request_invalid` while parts are missing. */
  complete(project: string, id: string, parts: readonly UploadedPart[] | undefined): Promise<Upload>;
  /** Removes the upload, its parts and a file in managed storage. */
  remove(project: string, id: string): Promise<void>;
  /** Stores a part at its signed URL and returns its ETag; rejects with `forbidden`. */
  put(part: PutPart): Promise<string>;
  /** Returns the file of an upload's URL; null for any other URL. Rejects with `invalid_input` for an upload of another project. */
  find(project: string, url: string): Promise<UploadedFile | null>;
}

/** A request for an upload. */
export interface NewUpload {
  id: string;
  request: UploadRequest;
  /** Id of the connection; null for managed storage. */
  connection_id: string | null;
  /** Base of the URLs, without a slash at its end. */
  base: string;
}

/** The request that stores a part. */
export interface PutPart {
  url: string;
  /** Bytes; null when the request does not state them. */
  size: number | null;
  content_type: string;
  body: ReadableStream<Uint8Array>;
}

/** The location of an upload's file. */
export interface UploadedFile {
  status: Upload["status"];
  name: string;
  /** Key in managed storage; null for the caller's own storage. */
  key: string | null;
  /** `s3://<bucket>/<key>` in the caller's own storage; null for managed storage. */
  output: string | null;
  connection_id: string | null;
}

/** Dependencies of {@link createPageUploads}. */
export interface PageUploadOptions {
  home(id: string): UploadHome;
  place(entry: Pick<UploadEntry, "project" | "upload">): UploadPlace;
  /** Managed storage. */
  uploads: Uploads;
  signer: PartSigner;
  /** Counts bytes that a project is about to put into managed storage; rejects with `quota_exceeded`. */
  store(project: string, bytes: number): Promise<void>;
  /** Size limit of a file, in bytes. */
  max_bytes: number;
  /** Seconds until a stored file and its URL expire. */
  keep_seconds: number;
  now(): number;
}

/** Creates {@link PageUploads}. */
export function createPageUploads(options: PageUploadOptions): PageUploads {
  const { home, place, uploads, signer, max_bytes, keep_seconds, now } = options;

  async function find(project: string, id: string): Promise<UploadEntry> {
    const entry = isId("upload", id) ? await home(id).get() : null;
    if (entry?.project === project) return entry;
    throw errors.uploadNotFound();
  }

  async function withParts(entry: UploadEntry): Promise<Upload> {
    const waits = entry.upload.status === "waiting" && entry.upload.expires_at > now();
    return { ...entry.upload, parts: waits ? await place(entry).sign(entry) : [] };
  }

  return {
    async create(project, { id, request, connection_id, base }) {
      const { size, content_type, output = null, seconds = UPLOAD_SECONDS.default } = request;
      if (size > max_bytes) throw errors.uploadTooLarge({ max_bytes });
      if (output === null) await options.store(project, size);
      const name = request.name ?? output?.split("/").at(-1) ?? "file";
      const created_at = now();
      const upload: UploadEntry["upload"] = {
        id,
        object: "upload",
        status: "waiting",
        name,
        size,
        content_type,
        url: `${base}/uploads/${id}/${encodeURIComponent(name)}`,
        output,
        connection_id,
        etag: null,
        created_at,
        expires_at: created_at + seconds * 1000,
      };
      const at = place({ project, upload });
      const entry: UploadEntry = { project, upload, begun: await at.begin(upload) };
      try {
        await home(id).create(entry);
        return await withParts(entry);
      } catch (thrown) {
        await at.drop(entry).catch(() => {});
        throw thrown;
      }
    },
    get: async (project, id) => withParts(await find(project, id)),
    async complete(project, id, parts) {
      const entry = await find(project, id);
      if (entry.upload.status === "stored") return withParts(entry);
      if (entry.upload.expires_at <= now()) throw errors.uploadNotFound();
      const at = place(entry);
      const etag = await at.complete(entry, parts).catch(async (thrown: unknown) => {
        const current = await home(id).get();
        if (current?.upload.etag) return current.upload.etag;
        throw thrown;
      });
      const stored = await home(id).store(etag, now() + keep_seconds * 1000);
      if (stored) return withParts(stored);
      await at.drop({ ...entry, upload: { ...entry.upload, status: "stored" } });
      throw errors.uploadNotFound();
    },
    async remove(project, id) {
      await find(project, id);
      const entry = await home(id).remove();
      if (entry) await place(entry).drop(entry);
    },
    async put({ url, size, content_type, body }) {
      const grant = await signer.open(url);
      if (!grant) throw errors.uploadUrlInvalid();
      if (size !== grant.size) throw errors.uploadSizeDiffers({ size: grant.size });
      if (grant.content_type !== "" && content_type !== grant.content_type)
        throw errors.uploadTypeDiffers({ content_type: grant.content_type });
      const entry = await home(grant.id).get();
      if (entry?.upload.status !== "waiting" || entry.begun === null) throw errors.uploadOver();
      const etag = await uploads.resume(uploadKey(entry.upload), entry.begun).part(grant.part, body, size);
      if (await home(grant.id).notePart(grant.part, etag)) return etag;
      throw errors.uploadOver();
    },
    async find(project, url) {
      const [, id = ""] = /\/uploads\/([^/]+)\/[^/]+$/.exec(URL.parse(url)?.pathname ?? "") ?? [];
      const entry = isId("upload", id) ? await home(id).get() : null;
      if (entry?.upload.url !== url) return null;
      if (entry.project !== project) throw errors.uploadOfOtherProject();
      const { status, name, output, connection_id } = entry.upload;
      return { status, name, output, connection_id, key: output === null ? uploadKey(entry.upload) : null };
    },
  };
}
