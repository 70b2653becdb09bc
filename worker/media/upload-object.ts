import { DurableObject } from "cloudflare:workers";
import { createConnections } from "../connections/connections.ts";
import { createSealOf } from "../connections/seal.ts";
import { createOutsideOf, type Env, mediaBucket, mediaStorage, readEnv } from "../env.ts";
import { requireQuota } from "../limits/quota.ts";
import { createPageUploads, type PageUploads } from "./page-uploads.ts";
import { createR2Uploads } from "./r2-uploads.ts";
import { createPartSigner } from "./signed-urls.ts";
import { createManagedPlace, createS3Place } from "./upload-places.ts";
import type { UploadEntry, UploadedPart, UploadPlace } from "./uploads.ts";

const ENTRY = "entry";
const REMOVED = "removed";
const PART = "part:";
const AGAIN_MS = 600_000;

/** Stores one upload of a page, and removes it when it expires. */
export class UploadObject extends DurableObject<Bindings> {
  readonly #kv = this.ctx.storage.kv;

  /** Stores a new upload until it expires. */
  async create(entry: UploadEntry): Promise<void> {
    this.#kv.put(ENTRY, entry);
    await this.ctx.storage.setAlarm(entry.upload.expires_at);
  }

  /** Returns the upload; null when there is none. */
  get(): UploadEntry | null {
    return this.#kv.get<UploadEntry>(ENTRY) ?? null;
  }

  /** Stores the ETag of a part; false when the upload no longer accepts parts. */
  notePart(part: number, etag: string): boolean {
    if (this.get()?.upload.status !== "waiting") return false;
    this.#kv.put(`${PART}${String(part).padStart(5, "0")}`, { part, etag } satisfies UploadedPart);
    return true;
  }

  /** Returns the stored parts, in order. */
  parts(): UploadedPart[] {
    return [...this.#kv.list<UploadedPart>({ prefix: PART })].map(([, part]) => part);
  }

  /** Marks the upload as `stored`; null when it is gone. */
  async store(etag: string, expires_at: number): Promise<UploadEntry | null> {
    const entry = this.get();
    if (!entry || entry.upload.status === "stored") return entry;
    const stored: UploadEntry = { ...entry, upload: { ...entry.upload, status: "stored", etag, expires_at } };
    this.#kv.put(ENTRY, stored);
    await this.ctx.storage.setAlarm(expires_at);
    return stored;
  }

  /** Deletes the upload's record and returns it for the caller to remove its parts; the alarm removes them if the caller fails. */
  async remove(): Promise<UploadEntry | null> {
    const entry = this.get();
    if (!entry) return null;
    this.#kv.put(REMOVED, entry);
    this.#kv.delete(ENTRY);
    await this.ctx.storage.setAlarm(Date.now() + AGAIN_MS);
    return entry;
  }

  /** Removes a deleted or expired upload from its storage, and retries until that succeeds. */
  override async alarm(): Promise<void> {
    const removed = this.#kv.get<UploadEntry>(REMOVED);
    const entry = removed ?? this.get();
    if (entry && !removed && entry.upload.expires_at > Date.now())
      return this.ctx.storage.setAlarm(entry.upload.expires_at);
    // From here on the upload cannot be completed.
    if (entry) this.#kv.put(REMOVED, entry);
    this.#kv.delete(ENTRY);
    try {
      if (entry) await createPlaceOf(readEnv(this.env))(entry).drop(entry);
    } catch {
      return this.ctx.storage.setAlarm(Date.now() + AGAIN_MS);
    }
    await this.ctx.storage.deleteAll();
  }
}

function createPlaceOf(env: Env): (entry: Pick<UploadEntry, "project" | "upload">) => UploadPlace {
  const now = () => Date.now();
  const connections = createConnections((project) => env.PROJECT.getByName(project), createSealOf(env));
  const outside = createOutsideOf(env);
  const signer = createPartSigner(env.settings.MEDIA_SIGNING_KEY, now);
  return ({ project, upload: { connection_id } }) =>
    connection_id === null
      ? createManagedPlace({
          uploads: createR2Uploads(mediaBucket(env)),
          media: mediaStorage(env),
          home: (id) => env.UPLOAD.getByName(id),
          signer,
        })
      : createS3Place(() => connections.open(project, connection_id), outside, now);
}

/** Creates the uploads of pages from the bindings of the Worker. */
export function createPageUploadsOf(env: Env): PageUploads {
  const { settings } = env;
  const now = () => Date.now();
  return createPageUploads({
    home: (id) => env.UPLOAD.getByName(id),
    place: createPlaceOf(env),
    uploads: createR2Uploads(mediaBucket(env)),
    signer: createPartSigner(settings.MEDIA_SIGNING_KEY, now),
    store: async (project, bytes) =>
      requireQuota(await env.PROJECT.getByName(project).quota.takeStored(bytes)),
    max_bytes: settings.MAX_INPUT_BYTES,
    keep_seconds: settings.MEDIA_TTL,
    now,
  });
}
