import { fromBase64Url, toBase64Url } from "../../src/util/bytes.ts";
import { createMac } from "../media/mac.ts";

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
      const signature = toBase64Url(await mac.sign(message(grant)));
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
      const valid = await mac.verify(message({ ...ask, project, expires }), fromBase64Url(signature ?? ""));
      return valid && now() < expires * 1000 ? { project, expires } : null;
    },
  };
}

// Nothing that media URLs sign begins with `image`; as JSON, no field can run into the next.
function message({ options, source, project, expires }: ImageGrant): Uint8Array<ArrayBuffer> {
  const text = `image\n${JSON.stringify([options, source, project, expires])}`;
  return Uint8Array.from(new TextEncoder().encode(text));
}

// Legible, as a path allows `=`, `,` and `:`.
function encodeOptions(options: string): string {
  return encodeURIComponent(options).replaceAll("%3D", "=").replaceAll("%2C", ",").replaceAll("%3A", ":");
}
