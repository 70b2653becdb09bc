import { toHex } from "../../src/util/bytes.ts";

const PREFIX = "fw_live_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// The lengths satisfy 62^16 > 2^95, 62^43 > 2^256 and 62^6 > 2^32.
const LOCATOR_LENGTH = 16;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const KEY = new RegExp(
  `^${PREFIX}(([0-9A-Za-z]{${LOCATOR_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** Returns the name of the object that stores a project's keys: a hash of the project, which each key contains. */
export async function locatorOf(project: string): Promise<string> {
  return toBase62((await digest(`keys of ${project}`)).subarray(0, 12), LOCATOR_LENGTH);
}

/**
 * Creates an API key: `fw_live_`, then in base 62 the locator of its project, 256 random bits and a checksum, which detects a mistyped
 * key without a lookup.
 */
export async function createKey(
  locator: string,
  random = crypto.getRandomValues(new Uint8Array(32)),
): Promise<string> {
  const secret = locator + toBase62(random, SECRET_LENGTH);
  return PREFIX + secret + (await checksum(secret));
}

/** Returns the locator in a key; null for a text that is not one of our keys or is mistyped. */
export async function readLocator(key: string): Promise<string | null> {
  const [, secret = "", locator = "", sum] = KEY.exec(key) ?? [];
  return sum !== undefined && sum === (await checksum(secret)) ? locator : null;
}

/** Returns the SHA-256 of a key in hex, which is stored instead of the key. */
export async function hashKey(key: string): Promise<string> {
  return toHex(await digest(key));
}

/** Returns the SHA-256 of a text. */
export async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Compares two digests in constant time. */
export function equalDigests(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

async function checksum(secret: string): Promise<string> {
  return toBase62((await digest(PREFIX + secret)).subarray(0, 4), CHECKSUM_LENGTH);
}

function toBase62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${toHex(bytes)}`);
  let text = "";
  while (text.length < length) {
    text = ALPHABET[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}
