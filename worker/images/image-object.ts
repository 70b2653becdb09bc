import { DurableObject } from "cloudflare:workers";
import { type ErrorKind, MediaError, toMediaError } from "../../src/core/errors.ts";
import { createLightEncoder } from "../../src/encoders/light/light.ts";
import { sha256Hex } from "../../src/util/bytes.ts";
import { type Env, readEnv } from "../env.ts";
import { mediaStorage } from "../network/media-bucket.ts";
import { patiently } from "../network/retry-object-call.ts";
import type { ImageEntry, ImageFound, ImageJob, ImagePlace } from "./image.ts";
import { withSource } from "./image-source.ts";
import { type MadeImage, makeImage } from "./make-image.ts";

/** What an {@link ImageObject} answers; errors as data, as their kind would not survive the call. */
export type ImageAnswer =
  | { entry: ImageEntry; found: ImageFound }
  | { error: { kind: ErrorKind; message: string; param: string | undefined } };

const ENTRY = "entry";
const WORK_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Makes and keeps one picture of one source: requests at the same time share one fetch and one encode. */
export class ImageObject extends DurableObject<Bindings> {
  readonly #kv = this.ctx.storage.kv;
  readonly #env: Env = readEnv(this.env);
  #making: Promise<ImageAnswer> | null = null;

  /** Returns the picture, made unless it is stored and fresh. */
  async get(place: ImagePlace, job: ImageJob): Promise<ImageAnswer> {
    const entry = this.#kv.get<ImageEntry>(ENTRY);
    if (entry && Date.now() < entry.fresh_until) return { entry, found: "hit" };
    if (this.#making) {
      const answer = await this.#making;
      return "entry" in answer ? { ...answer, found: "collapsed" } : answer;
    }
    this.#making = this.#make(entry ?? null, place, job);
    try {
      return await this.#making;
    } finally {
      this.#making = null;
    }
  }

  async #make(old: ImageEntry | null, place: ImagePlace, job: ImageJob): Promise<ImageAnswer> {
    const signal = AbortSignal.timeout(WORK_MS);
    try {
      const light = createLightEncoder({ fetch: (url, init) => this.#env.ENCODER.fetch(url, init) });
      const known = old?.validator ?? null;
      const made = await withSource(this.#env, place, { known, signal }, async ({ bytes, validator }) => ({
        ...(await makeImage(bytes, job, light, signal)),
        validator,
      }));
      const fresh_until = Date.now() + this.#env.settings.IMAGE_FRESH_SECONDS * 1000;
      const found = made ? "stored" : "revalidated";
      const entry = made ? await this.#store(made, fresh_until) : { ...(old as ImageEntry), fresh_until };
      this.#kv.put(ENTRY, entry);
      await this.ctx.storage.setAlarm(this.#due(entry));
      if (made) {
        if (old && old.key !== entry.key) await mediaStorage(this.#env).clear(old.key);
        await patiently(() => this.#env.PROJECT.getByName(place.project).quota.addStored(entry.size));
      }
      return { entry, found };
    } catch (thrown) {
      const { kind, message, param, cause } = signal.aborted ? tooLong() : toMediaError(thrown);
      if (kind === "internal_error") console.error("image", cause);
      return { error: { kind, message, param } };
    }
  }

  async #store(
    { bytes, mime, validator }: MadeImage & { validator: string | null },
    fresh_until: number,
  ): Promise<ImageEntry> {
    const etag = (await sha256Hex(Uint8Array.from(bytes))).slice(0, 32);
    const key = `images/${this.ctx.id}/${etag}`;
    await mediaStorage(this.#env).write(key, bytes, mime);
    return { key, etag, mime, size: bytes.length, validator, fresh_until };
  }

  /** Drops a picture without a request since it was last compared with its source. */
  override async alarm(): Promise<void> {
    const entry = this.#kv.get<ImageEntry>(ENTRY);
    if (entry && this.#due(entry) > Date.now()) return this.ctx.storage.setAlarm(this.#due(entry));
    try {
      if (!this.#making) await mediaStorage(this.#env).clear(`images/${this.ctx.id}/`);
    } catch {
      return this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    }
    if (!this.#making) await this.ctx.storage.deleteAll();
  }

  #due({ fresh_until }: ImageEntry): number {
    return fresh_until + this.#env.settings.MEDIA_TTL * 1000;
  }
}

function tooLong(): MediaError {
  return new MediaError("timeout", `The picture was not made within ${WORK_MS / 1000} s.`);
}
