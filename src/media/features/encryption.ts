import { z } from "zod";
import { toHex } from "../../util/bytes.ts";
import { option, optionGroup } from "../feature.ts";
import { closed, issue, oneOf, type Report, ruled } from "../fields.ts";
import { BOUNDS, hasDash } from "../formats.ts";

const BYTES = "16 bytes, as 32 hexadecimal digits or in base64.";
const BASE64 = "[A-Za-z0-9+/]{21}[AQgw]==";

const schema = closed(
  {
    method: oneOf(["aes-128"]).meta({
      description: "Encrypts whole segments by AES-128 in CBC mode, as in RFC 8216.",
    }),
    key: z
      .string({ error: ({ input }) => `${input === undefined ? "is required" : "must be a text"}: ${BYTES}` })
      .regex(new RegExp(`^(?:[0-9A-Fa-f]{32}|${BASE64})$`), `must be ${BYTES}`)
      .meta({
        description: "The key: 16 bytes, in hexadecimal or base64. No response, event or log contains it.",
        writeOnly: true,
        example: "00112233445566778899aabbccddeeff",
      }),
    key_url: ruled(
      z.string({
        error: ({ input }) =>
          input === undefined ? "is required: where players get the key." : "must be a text.",
      }),
      brokenKeyUrl,
    ).meta({
      description: "URL from which players get the key's 16 bytes; every playlist contains it.",
      example: "https://example.com/keys/7",
    }),
    iv: z
      .string(`must be ${BYTES}`)
      .regex(new RegExp(`^(?:(?:0[xX])?[0-9A-Fa-f]{32}|${BASE64})$`), `must be ${BYTES}`)
      .optional()
      .meta({
        description:
          "The initialization vector of all segments, 16 bytes in hexadecimal or base64. By default each segment's number.",
      }),
  },
  "field",
  " for encryption",
);

/** Encryption of the segments of HLS. */
export const encryption = optionGroup({
  options: {
    encryption: option({
      kinds: ["adaptive_video"],
      schema: schema.optional().meta({
        description:
          "Encrypts the segments of HLS with your own key; the playlists name the URL from which players get it.",
      }),
      placed: true,
      words: { label: "Encryption" },
    }),
  },
});

/** The facts about encryption that playlists state. */
export const EncryptionPlan = z.strictObject({
  key_url: z.string().max(8192),
  /** Initialization vector of all segments in hexadecimal; by default, each segment uses its number. */
  iv: z
    .string()
    .regex(/^[0-9a-f]{32}$/i)
    .exactOptional(),
});

function brokenKeyUrl(text: string): string | null {
  const url = URL.parse(text);
  if (text.length > BOUNDS.url_length.max || !url || !/^https?:\/\/[^\s"\\\p{Cc}]+$/iu.test(text))
    return "must be a URL that starts with https:// or http://.";
  return url.username || url.password ? "must not hold a user name or password." : null;
}

/** Checks that the other options work with encryption. */
export function checkEncryption(
  options: { encryption?: object | undefined; format?: string | undefined; i_frames?: boolean | undefined },
  report: Report,
): void {
  if (options.encryption === undefined) return;
  if (options.format !== undefined && hasDash(options.format)) {
    const message = 'needs format "hls": AES-128 of whole segments is a method of HLS, which DASH lacks.';
    report.addIssue(issue("encryption", message));
  }
  if (options.i_frames) {
    const whole =
      "options.i_frames and options.encryption cannot both be given: a part of a segment cannot be decrypted.";
    report.addIssue(issue("encryption", "cannot be given together with i_frames.", whole));
  }
}

interface WithOptions {
  options: object;
}

/** Returns the key in a request, as text; null when it has none. */
export function keyIn(request: unknown): string | null {
  const key: unknown = Object(Object(Object(request).options).encryption).key;
  return typeof key === "string" ? key : null;
}

/** Removes the key from a request, because everyone with access may read its record. */
export function withoutKey<R extends WithOptions>(request: R): R {
  if (keyIn(request) === null) return request;
  const { encryption, ...options } = request.options as { encryption: { key: string } };
  const { key: _, ...rest } = encryption;
  return { ...request, options: { ...options, encryption: rest } };
}

/** Returns a request with the key that its record omits. */
export function withKey<R extends WithOptions>(request: R, key: string): R {
  const { encryption } = request.options as { encryption?: object };
  return { ...request, options: { ...request.options, encryption: { ...encryption, key } } };
}

/** Returns whether a request has the option `encryption`. */
export function isEncrypted({ options }: WithOptions): boolean {
  return Object(options).encryption !== undefined;
}

/** Parses the 16 bytes of a key or an initialization vector. */
export function parseBlock(text: string): Uint8Array<ArrayBuffer> {
  const hex = /^(?:0x)?([0-9a-f]{32})$/i.exec(text)?.[1];
  if (hex === undefined) return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return Uint8Array.from({ length: 16 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

/** Plans the encryption of a stream, without its key. */
export function planEncryption({ key_url, iv }: { key_url: string; iv?: string | undefined }) {
  return { key_url, ...(iv !== undefined && { iv: toHex(parseBlock(iv)) }) };
}
