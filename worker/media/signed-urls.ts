import { isId } from "../../src/runs/ids.ts";
import { fromBase64Url, toBase64Url } from "../../src/util/bytes.ts";
import { errors } from "../errors.ts";

/** Authenticates messages under secrets that may change. */
export interface Mac {
  /** Returns the signature of a message by the newest secret. */
  sign(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  /** Returns whether any of the secrets made a signature. */
  verify(message: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

/** Builds a {@link Mac} by HMAC-SHA-256 over secrets, the newest first; throws without any. */
function createMac(secrets: readonly string[]): Mac {
  if (secrets.length === 0 || secrets.includes("")) throw errors.signingSecretEmpty();
  const keys = secrets.map((secret) =>
    crypto.subtle.importKey("raw", new TextEncoder().encode(secret), HMAC, false, ["sign", "verify"]),
  );
  return {
    async sign(message) {
      const [newest] = await Promise.all(keys);
      if (!newest) throw errors.signingKeyMissing();
      return new Uint8Array(await crypto.subtle.sign("HMAC", newest, message));
    },
    async verify(message, signature) {
      let valid = false;
      // Web Crypto compares in constant time. No early exit, so that the time taken does not reveal which key matched.
      for (const key of await Promise.all(keys))
        if (await crypto.subtle.verify("HMAC", key, signature, message)) valid = true;
      return valid;
    },
  };
}

/** What a valid media URL opens. */
export interface Grant {
  /** Key of the object in storage. */
  key: string;
  /** Unix seconds at which the URL stops working. */
  expires: number;
}

/** Makes media URLs that expire, and opens them. */
export interface Signer {
  /**
   * Returns `<base>/media/<signature>.<expires>/<key>`, good until `expires` (Unix seconds). The signature covers the run's
   * folder, `out/<run>/` or `work/<run>/`, so that relative URLs inside a playlist work too. Throws for a key outside such a
   * folder.
   */
  sign(key: string, expires: number, base: string): Promise<string>;
  /** Opens a media URL, of any base; null when it is not one, is signed otherwise or has expired. */
  open(url: string): Promise<Grant | null>;
  /** Returns the key behind one of our own media URLs, or null, so that a step reads it from storage without a request. */
  resolve(url: string): Promise<string | null>;
  /**
   * Returns the URL of a folder that accepts files until `expires` (Unix seconds), each at the URL with its name appended. It
   * grants no reads, as a URL for reading grants no writes. The folder is a run's, or one below it, with a slash at its end;
   * throws for any other.
   */
  signFolder(folder: string, expires: number, base: string): Promise<string>;
  /** Opens the URL of a file in a folder signed for writing; null as by `open`. */
  openWrite(url: string): Promise<Grant | null>;
}

const MEDIA_PATH = /\/media\/([\w-]{43})\.(\d{1,12})\/(.+)$/;

/** Builds a {@link Signer} over secrets, the newest first, by HMAC-SHA-256: the newest signs, and all of them open; throws without any. */
export function createSigner(secrets: readonly string[], now: () => number): Signer {
  const mac = createMac(secrets);
  async function open(url: string, purpose: Purpose): Promise<Grant | null> {
    const [, signature, digits, path] = MEDIA_PATH.exec(URL.parse(url)?.pathname ?? "") ?? [];
    const key = path === undefined ? null : decodeKey(path);
    const folder = key === null ? null : folderOf(key);
    if (signature === undefined || key === null || folder === null) return null;
    const expires = Number(digits);
    const valid = await mac.verify(message(folder, expires, purpose), fromBase64Url(signature));
    return valid && now() < expires * 1000 ? { key, expires } : null;
  }
  async function sign(key: string, until: number, base: string, purpose: Purpose): Promise<string> {
    const expires = Math.floor(until);
    const folder = folderOf(key);
    if (folder === null) throw errors.mediaUrlOfNoRun();
    const bytes = await mac.sign(message(folder, expires, purpose));
    const path = key.split("/").map(encodeURIComponent).join("/");
    return `${base.replace(/\/+$/, "")}/media/${toBase64Url(bytes)}.${expires}/${path}`;
  }
  return {
    sign: (key, until, base) => sign(key, until, base, "read"),
    open: (url) => open(url, "read"),
    async resolve(url) {
      return (await open(url, "read"))?.key ?? null;
    },
    async signFolder(folder, until, base) {
      if (!folder.endsWith("/")) throw errors.mediaFolderMalformed();
      return (await sign(`${folder}-`, until, base, "write")).slice(0, -1);
    },
    openWrite: (url) => open(url, "write"),
  };
}

type Purpose = "read" | "write";

// No folder begins with `write`, so neither message is ever the other's.
function message(folder: string, expires: number, purpose: Purpose): Uint8Array<ArrayBuffer> {
  const first = purpose === "write" ? "write\n" : "";
  return Uint8Array.from(new TextEncoder().encode(`${first}${folder}\n${expires}`));
}

// The records that own folders; a job's has the input that its tasks share.
const OWNERS = ["task", "step", "job"] as const;

// `out/<run>/` or `work/<run>/` of a key with a file below it.
function folderOf(key: string): string | null {
  const [top, run = "", ...rest] = key.split("/");
  if ((top !== "out" && top !== "work") || !OWNERS.some((sort) => isId(sort, run))) return null;
  const safe = rest.length > 0 && rest.every((part) => part !== "" && part !== "." && part !== "..");
  return safe ? `${top}/${run}/` : null;
}

// An encoded slash would turn a file's name into a folder; a path that does not decode is no key.
function decodeKey(path: string): string | null {
  try {
    const parts = path.split("/").map(decodeURIComponent);
    return parts.some((part) => /[/\\\p{Cc}]/u.test(part)) ? null : parts.join("/");
  } catch {
    return null;
  }
}

/** A part that may be put: exactly as many bytes, and of that type where one is named. */
export interface PartGrant {
  /** Of the upload. */
  id: string;
  part: number;
  size: number;
  /** Empty where the type is not asked for. */
  content_type: string;
}

/** Makes URLs that parts of uploads are put to, and opens them. */
export interface PartSigner {
  /** Returns `<base>/uploads/<id>/parts/<part>` with all that the signature covers in its query, valid until `expires` (Unix seconds). */
  sign(grant: PartGrant, expires: number, base: string): Promise<string>;
  /** Opens such a URL, of any base; null when it is signed otherwise or has expired. */
  open(url: string): Promise<PartGrant | null>;
}

const PATH = /\/uploads\/(upload_[0-9a-z]{26})\/parts\/(\d{1,5})$/;

/** Creates a {@link PartSigner} with the secrets that sign media URLs, the newest first, by HMAC-SHA-256; throws without any. */
export function createPartSigner(secrets: readonly string[], now: () => number): PartSigner {
  const mac = createMac(secrets);
  return {
    async sign(grant, expires, base) {
      const until = Math.floor(expires);
      const bytes = await mac.sign(partMessage(grant, until));
      const query = new URLSearchParams({ size: String(grant.size) });
      if (grant.content_type !== "") query.set("type", grant.content_type);
      query.set("expires", String(until));
      query.set("signature", toBase64Url(bytes));
      return `${base}/uploads/${grant.id}/parts/${grant.part}?${query}`;
    },
    async open(url) {
      const { pathname, searchParams } = new URL(url);
      const [, id, part] = PATH.exec(pathname) ?? [];
      const [size, expires, signature] = ["size", "expires", "signature"].map((name) =>
        searchParams.get(name),
      );
      const numbers = /^\d{1,15}$/.test(size ?? "") && /^\d{1,12}$/.test(expires ?? "");
      if (!id || !numbers || !/^[\w-]{43}$/.test(signature ?? "")) return null;
      const content_type = searchParams.get("type") ?? "";
      const grant = { id, part: Number(part), size: Number(size), content_type };
      const given = fromBase64Url(signature ?? "");
      const valid = await mac.verify(partMessage(grant, Number(expires)), given);
      return valid && now() < Number(expires) * 1000 ? grant : null;
    },
  };
}

// The other messages that are signed with this secret begin with a folder or `write`.
function partMessage({ id, part, size, content_type }: PartGrant, expires: number): Uint8Array<ArrayBuffer> {
  const text = ["upload", id, part, size, content_type, expires].join("\n");
  return Uint8Array.from(new TextEncoder().encode(text));
}

/** What an image URL asks for: options as written in it, and the URL of a picture or the key of an output. */
export interface ImageAsk {
  options: string;
  source: string;
}

/** What a signature allows: one picture in one form, on a project's account until `expires` (Unix seconds). */
export interface ImageGrant extends ImageAsk {
  project: string;
  expires: number;
}

/** Signs image URLs, and checks their signatures. */
export interface ImageSigner {
  /** Returns `<base>/image/<options>/<source>?project=…&expires=…&signature=…`. */
  sign(grant: ImageGrant, base: string): Promise<string>;
  /** Returns whose account the signature in a query allows a request on, and until when; null where it does not hold or has expired. */
  check(ask: ImageAsk, query: URLSearchParams): Promise<Pick<ImageGrant, "project" | "expires"> | null>;
}

/** Builds an {@link ImageSigner} over secrets, the newest first, by HMAC-SHA-256; throws without any. */
export function createImageSigner(secrets: readonly string[], now: () => number): ImageSigner {
  const mac = createMac(secrets);
  return {
    async sign(grant, base) {
      const { options, source, project, expires } = grant;
      const signature = toBase64Url(await mac.sign(imageMessage(grant)));
      const query = new URLSearchParams({ project, expires: String(expires), signature });
      return `${base}/image/${encodeOptions(options)}/${encodeURIComponent(source)}?${query}`;
    },
    async check(ask, query) {
      const [project, digits, signature] = ["project", "expires", "signature"].map(
        (name) => query.get(name) ?? "",
      );
      if (project === undefined || !/^\d{1,12}$/.test(digits ?? "")) return null;
      if (!/^[\w-]{43}$/.test(signature ?? "")) return null;
      const expires = Number(digits);
      const valid = await mac.verify(
        imageMessage({ ...ask, project, expires }),
        fromBase64Url(signature ?? ""),
      );
      return valid && now() < expires * 1000 ? { project, expires } : null;
    },
  };
}

// Nothing that media URLs sign begins with `image`; as JSON, no field can run into the next.
function imageMessage({ options, source, project, expires }: ImageGrant): Uint8Array<ArrayBuffer> {
  const text = `image\n${JSON.stringify([options, source, project, expires])}`;
  return Uint8Array.from(new TextEncoder().encode(text));
}

// Legible, as a path allows `=`, `,` and `:`.
function encodeOptions(options: string): string {
  return encodeURIComponent(options).replaceAll("%3D", "=").replaceAll("%2C", ",").replaceAll("%3A", ":");
}
