import { isId } from "../../src/runs/ids.ts";
import { fromBase64Url, toBase64Url } from "../../src/util/bytes.ts";
import { errors } from "../errors.ts";
import { createMac } from "./mac.ts";

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
