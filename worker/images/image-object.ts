import { DurableObject } from "cloudflare:workers";
import { createLightEncoder } from "../../src/encoders/light/light.ts";
import { createPictureEncoder } from "../../src/encoders/native/native-picture.ts";
import { MAX_PICTURE_INPUT } from "../../src/encoders/native/native-wire.ts";
import { type ErrorKind, toMediaError } from "../../src/media/errors.ts";
import { MIB, sha256Hex } from "../../src/util/bytes.ts";
import { type Env, mediaStorage, readEnv } from "../env.ts";
import * as errors from "../errors.ts";
import { logFault } from "../log.ts";
import { patiently } from "../network/durable-objects.ts";
import { createNatives } from "../run/encoders.ts";
import { droppedText, type ImageEntry, type ImageJob, type ImageOrigin, type ImageOutcome } from "./image.ts";
import { encodeImage, type ImageEncoders } from "./image-maker.ts";
import { type LargeSources, withSource } from "./image-source.ts";

/** The response of an {@link ImageObject}. Errors are data, because RPC would lose their kind. */
export type ImageAnswer =
  | { entry: ImageEntry; found: ImageOutcome; bytes?: Uint8Array<ArrayBuffer> }
  | { error: { kind: ErrorKind; message: string; param: string | undefined } };

/** Size limit, in bytes, of a picture that is returned before it is stored. */
export const MAX_INLINE_BYTES = MIB;
const ENTRY = "entry";
const WORK_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Encodes and stores one picture of one source; concurrent requests share one fetch and one encode. */
export class ImageObject extends DurableObject<Bindings> {
  readonly #kv = this.ctx.storage.kv;
  readonly #env: Env = readEnv(this.env);
  #making: Promise<ImageAnswer> | null = null;
  // Requests wait while the files are removed, or they would get an entry without a file.
  #dropping: Promise<void> = Promise.resolve();

  /** Returns the picture, and encodes it unless a fresh one is stored. */
  async get(place: ImageOrigin, job: ImageJob): Promise<ImageAnswer> {
    await this.#dropping;
    const entry = this.#entry();
    if (entry && Date.now() < entry.fresh_until) return { entry, found: "hit" };
    if (this.#making) {
      const answer = await this.#making;
      return "entry" in answer ? { ...answer, found: "collapsed" } : answer;
    }
    const { answer, storing } = this.#make(entry, place, job);
    this.#making = answer;
    const end = () => {
      this.#making = null;
    };
    this.ctx.waitUntil(storing.then(end, end));
    return answer;
  }

  #make(old: ImageEntry | null, place: ImageOrigin, job: ImageJob) {
    const work = this.#work(old, place, job);
    const storing = work.then((result) =>
      this.#store(old, place, result).catch((thrown) => {
        logFault("image not stored", thrown);
        throw thrown;
      }),
    );
    const answer = work.then<ImageAnswer, ImageAnswer>(async ({ entry, bytes }) => {
      if (!bytes) return { entry, found: "revalidated" };
      if (bytes.length <= MAX_INLINE_BYTES) return { entry, found: "stored", bytes };
      return storing.then(() => ({ entry, found: "stored" }), refusalOf);
    }, refusalOf);
    return { answer, storing };
  }

  async #work(old: ImageEntry | null, place: ImageOrigin, job: ImageJob) {
    const signal = AbortSignal.timeout(WORK_MS);
    try {
      const encoders = encodersOf(this.#env);
      const { project } = place;
      const storedValidator = old?.validator ?? null;
      const large = encoders.native && this.#large();
      const image = await withSource(
        this.#env,
        place,
        { validator: storedValidator, signal, large },
        async (source) => ({
          ...(await encodeImage(source, job, encoders, { project, signal })),
          validator: source.validator,
        }),
      );
      const fresh_until = Date.now() + this.#env.settings.IMAGE_FRESH_SECONDS * 1000;
      if (!image) {
        if (!old) throw errors.imageNotStored();
        return { entry: { ...old, fresh_until }, bytes: null };
      }
      const { bytes, mime, dropped } = image;
      const etag = (await sha256Hex(bytes)).slice(0, 32);
      const key = `images/${this.ctx.id}/${etag}`;
      const { validator } = image;
      const entry: ImageEntry = { key, etag, mime, size: bytes.length, validator, fresh_until };
      if (dropped.length > 0) entry.dropped = droppedText(dropped);
      return { entry, bytes };
    } catch (thrown) {
      throw signal.aborted ? errors.imageTimeout({ seconds: WORK_MS / 1000 }) : thrown;
    }
  }

  #large(): LargeSources {
    const { storage, id } = this.ctx;
    return {
      max_bytes: MAX_PICTURE_INPUT,
      key: `images/${id}/source`,
      prepare: async () => {
        if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + HOUR_MS);
      },
    };
  }

  async #store(
    old: ImageEntry | null,
    { project }: ImageOrigin,
    { entry, bytes }: { entry: ImageEntry; bytes: Uint8Array | null },
  ): Promise<void> {
    if (bytes) await mediaStorage(this.#env).write(entry.key, bytes, entry.mime);
    this.#kv.put(ENTRY, entry);
    await this.ctx.storage.setAlarm(this.#due(entry));
    if (!bytes) return;
    if (old && old.key !== entry.key) await mediaStorage(this.#env).clear(old.key);
    await patiently(() => this.#env.PROJECT.getByName(project).quota.addStored(entry.size));
  }

  /** Removes a picture that has not been requested since it expired. */
  override async alarm(): Promise<void> {
    const entry = this.#entry();
    if (entry && this.#due(entry) > Date.now()) return this.ctx.storage.setAlarm(this.#due(entry));
    // Retries a removal that fails; a picture in progress sets the alarm again when it is stored.
    await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    if (this.#making) return;
    this.#dropping = this.#drop().catch((thrown) => logFault("image not dropped", thrown));
    await this.#dropping;
  }

  async #drop(): Promise<void> {
    await mediaStorage(this.#env).clear(`images/${this.ctx.id}/`);
    await this.ctx.storage.deleteAll();
  }

  // An earlier version stored entries without a key.
  #entry(): ImageEntry | null {
    const entry = this.#kv.get<ImageEntry>(ENTRY);
    return entry?.key ? entry : null;
  }

  #due({ fresh_until }: ImageEntry): number {
    return fresh_until + this.#env.settings.MEDIA_TTL * 1000;
  }
}

let encoders: ImageEncoders | undefined;

function encodersOf(env: Env): ImageEncoders {
  if (encoders) return encoders;
  const { instances } = createNatives(env, "");
  const token = env.settings.NATIVE_ENCODER_TOKEN;
  encoders = {
    light: createLightEncoder({ fetch: (url, init) => env.ENCODER.fetch(url, init) }),
    native: instances.length > 0 ? createPictureEncoder({ instances, token }) : null,
  };
  return encoders;
}

function refusalOf(thrown: unknown): ImageAnswer {
  const { kind, message, param, cause } = toMediaError(thrown);
  if (kind === "internal_error") logFault("image not made", cause);
  return { error: { kind, message, param } };
}
