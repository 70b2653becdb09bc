import { isId } from "../../src/runs/ids.ts";
import { fromBase64Url, toBase64Url } from "../../src/util/bytes.ts";
import * as errors from "../errors.ts";

/** Authenticates messages with secrets that may be rotated. */
export interface Mac {
  /** Returns the signature of a message with the newest secret. */
  sign(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  /** Returns whether any of the secrets made a signature. */
  verify(message: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

/** Creates a {@link Mac} with HMAC-SHA-256. `secrets` are newest first; throws if there are none. */
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
      // Does not exit early, so that the timing does not reveal which key matched. Web Crypto compares in constant time.
      for (const key of await Promise.all(keys))
        if (await crypto.subtle.verify("HMAC", key, signature, message)) valid = true;
      return valid;
    },
  };
}

/** The access that a valid media URL grants. */
export interface Grant {
  /** Key of the object in storage. */
  key: string;
  /** Unix seconds at which the URL stops working. */
  expires: number;
}

/** Signs media URLs that expire, and verifies them. */
export interface Signer {
  /**
   * Returns `<base>/media/<signature>.<expires>/<key>`, valid until `expires` (Unix seconds). The signature covers the run's folder,
   * `out/<run>/` or `work/<run>/`, so that relative URLs inside a playlist work. Throws for a key outside such a folder.
   */
  sign(key: string, expires: number, base: string): Promise<string>;
  /** Verifies a media URL with any base; null when it is not one, its signature is wrong or it has expired. */
  open(url: string): Promise<Grant | null>;
  /** Returns the key of one of the service's own media URLs, which a step then reads from storage; null for any other URL. */
  resolve(url: string): Promise<string | null>;
  /**
   * Returns the URL of a folder that accepts files until `expires` (Unix seconds), each at the URL with its name appended. It grants no
   * reads. The folder is a run's, or one below it, with a slash at its end; throws for any other.
   */
  signFolder(folder: string, expires: number, base: string): Promise<string>;
  /** Verifies the URL of a file in a folder signed for writing; null as with `open`. */
  openWrite(url: string): Promise<Grant | null>;
}

const MEDIA_PATH = /\/media\/([\w-]{43})\.(\d{1,12})\/(.+)$/;

/** Creates a {@link Signer} with HMAC-SHA-256. `secrets` are newest first: the newest signs, all verify. Throws if there are none. */
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

// No folder begins with `write`, so a signature for reading never grants writing.
function message(folder: string, expires: number, purpose: Purpose): Uint8Array<ArrayBuffer> {
  const first = purpose === "write" ? "write\n" : "";
  return Uint8Array.from(new TextEncoder().encode(`${first}${folder}\n${expires}`));
}

const OWNERS = ["task", "step", "job"] as const;

function folderOf(key: string): string | null {
  const [top, run = "", ...rest] = key.split("/");
  if ((top !== "out" && top !== "work") || !OWNERS.some((sort) => isId(sort, run))) return null;
  const safe = rest.length > 0 && rest.every((part) => part !== "" && part !== "." && part !== "..");
  return safe ? `${top}/${run}/` : null;
}

// An encoded slash would turn a file's name into a folder.
function decodeKey(path: string): string | null {
  try {
    const parts = path.split("/").map(decodeURIComponent);
    return parts.some((part) => /[/\\\p{Cc}]/u.test(part)) ? null : parts.join("/");
  } catch {
    return null;
  }
}

/** Permission to put one part of exactly `size` bytes. */
export interface PartGrant {
  /** Id of the upload. */
  id: string;
  part: number;
  size: number;
  /** Required media type; empty for any. */
  content_type: string;
}

/** Signs the URLs of upload parts, and verifies them. */
export interface PartSigner {
  /** Returns `<base>/uploads/<id>/parts/<part>` with the signed facts in its query, valid until `expires` (Unix seconds). */
  sign(grant: PartGrant, expires: number, base: string): Promise<string>;
  /** Verifies such a URL with any base; null when its signature is wrong or it has expired. */
  open(url: string): Promise<PartGrant | null>;
}

const PATH = /\/uploads\/(upload_[0-9a-z]{26})\/parts\/(\d{1,5})$/;

/** Creates a {@link PartSigner} with HMAC-SHA-256 and the secrets of media URLs, newest first; throws if there are none. */
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
      const bytes = fromBase64Url(signature ?? "");
      const valid = await mac.verify(partMessage(grant, Number(expires)), bytes);
      return valid && now() < Number(expires) * 1000 ? grant : null;
    },
  };
}

// The first line separates these messages from those of media URLs, which use the same secrets.
function partMessage({ id, part, size, content_type }: PartGrant, expires: number): Uint8Array<ArrayBuffer> {
  const text = ["upload", id, part, size, content_type, expires].join("\n");
  return Uint8Array.from(new TextEncoder().encode(text));
}

/** The content of an image URL: its options as written, and the URL of a picture or the key of an output. */
export interface ImageRequest {
  options: string;
  source: string;
}

/** Permission for one picture with one set of options, on a project's account until `expires` (Unix seconds). */
export interface ImageGrant extends ImageRequest {
  project: string;
  expires: number;
}

/** Signs image URLs, and verifies their signatures. */
export interface ImageSigner {
  /** Returns `<base>/image/<options>/<source>?project=…&expires=…&signature=…`. */
  sign(grant: ImageGrant, base: string): Promise<string>;
  /** Returns the project and the expiry of a valid signature in a query; null when it is wrong or has expired. */
  check(
    request: ImageRequest,
    query: URLSearchParams,
  ): Promise<Pick<ImageGrant, "project" | "expires"> | null>;
}

/** Creates an {@link ImageSigner} with HMAC-SHA-256. `secrets` are newest first; throws if there are none. */
export function createImageSigner(secrets: readonly string[], now: () => number): ImageSigner {
  const mac = createMac(secrets);
  return {
    async sign(grant, base) {
      const { options, source, project, expires } = grant;
      const signature = toBase64Url(await mac.sign(imageMessage(grant)));
      const query = new URLSearchParams({ project, expires: String(expires), signature });
      return `${base}/image/${encodeOptions(options)}/${encodeURIComponent(source)}?${query}`;
    },
    async check(request, query) {
      const [project, digits, signature] = ["project", "expires", "signature"].map(
        (name) => query.get(name) ?? "",
      );
      if (project === undefined || !/^\d{1,12}$/.test(digits ?? "")) return null;
      if (!/^[\w-]{43}$/.test(signature ?? "")) return null;
      const expires = Number(digits);
      const valid = await mac.verify(
        imageMessage({ ...request, project, expires }),
        fromBase64Url(signature ?? ""),
      );
      return valid && now() < expires * 1000 ? { project, expires } : null;
    },
  };
}

// No media URL signs a message that begins with `image`, and JSON keeps the fields apart.
function imageMessage({ options, source, project, expires }: ImageGrant): Uint8Array<ArrayBuffer> {
  const text = `image\n${JSON.stringify([options, source, project, expires])}`;
  return Uint8Array.from(new TextEncoder().encode(text));
}

function encodeOptions(options: string): string {
  return encodeURIComponent(options).replaceAll("%3D", "=").replaceAll("%2C", ",").replaceAll("%3A", ":");
}
