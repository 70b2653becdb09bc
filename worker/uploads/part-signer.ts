import { fromBase64Url, toBase64Url } from "../../src/util/bytes.ts";
import { createMac } from "../media/mac.ts";

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
      const bytes = await mac.sign(message(grant, until));
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
      const valid = await mac.verify(message(grant, Number(expires)), given);
      return valid && now() < Number(expires) * 1000 ? grant : null;
    },
  };
}

// The other messages that are signed with this secret begin with a folder or `write`.
function message({ id, part, size, content_type }: PartGrant, expires: number): Uint8Array<ArrayBuffer> {
  const text = ["upload", id, part, size, content_type, expires].join("\n");
  return Uint8Array.from(new TextEncoder().encode(text));
}
