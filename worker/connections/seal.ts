import { fromBase64Url, toBase64Url } from "../../src/util/bytes.ts";
import * as errors from "../errors.ts";
import type { ServiceSettings } from "../settings.ts";

/** Encrypts stored texts with keys that may be rotated. */
export interface Seal {
  /** Encrypts a text with the newest key. Only the same `owner`, such as the id of its record, can open it. */
  seal(text: string, owner: string): Promise<string>;
  /** Decrypts a text with the key that sealed it. Rejects when that key is gone or the text was altered; the error contains neither. */
  open(sealed: string, owner: string): Promise<string>;
  /** Whether the newest key sealed a text; any other must be sealed again before its key is removed. */
  isCurrent(sealed: string): Promise<boolean>;
}

interface SealKey {
  id: string;
  key: CryptoKey;
}

const IV_BYTES = 12;

/** Creates a {@link Seal} with AES-256-GCM. Derives its keys from `secrets`, newest first, with HKDF-SHA-256 (RFC 5869). */
export function createSeal(secrets: readonly string[]): Seal {
  let derived: Promise<SealKey[]> | undefined;
  const keys = () => {
    derived ??= Promise.all(secrets.map(derive));
    return derived;
  };
  return {
    async seal(text, owner) {
      const [newest] = await keys();
      if (!newest) throw errors.sealKeyMissing();
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const bytes = await crypto.subtle.encrypt(cipher(iv, owner), newest.key, encode(text));
      return ["1", newest.id, toBase64Url(iv), toBase64Url(new Uint8Array(bytes))].join(".");
    },
    async open(sealed, owner) {
      const [version, id, iv, bytes] = sealed.split(".");
      const match = (await keys()).find((each) => each.id === id);
      if (version !== "1" || !match || !iv || !bytes) throw errors.sealKeyUnknown();
      const open = crypto.subtle.decrypt(cipher(fromBase64Url(iv), owner), match.key, fromBase64Url(bytes));
      return new TextDecoder().decode(await open);
    },
    async isCurrent(sealed) {
      return sealed.split(".")[1] === (await keys())[0]?.id;
    },
  };
}

async function derive(secret: string): Promise<SealKey> {
  const root = await crypto.subtle.importKey("raw", encode(secret), "HKDF", false, [
    "deriveKey",
    "deriveBits",
  ]);
  const hkdf = (info: string) => ({
    name: "HKDF",
    hash: "SHA-256",
    salt: encode("framewright"),
    info: encode(info),
  });
  const key = await crypto.subtle.deriveKey(
    hkdf("connections"),
    root,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
  const name = new Uint8Array(await crypto.subtle.deriveBits(hkdf("connections, name of the key"), root, 48));
  return { id: toBase64Url(name), key };
}

const cipher = (iv: Uint8Array<ArrayBuffer>, owner: string) => ({
  name: "AES-GCM",
  iv,
  additionalData: encode(owner),
});

const encode = (text: string) => new TextEncoder().encode(text);

interface Deployment {
  settings: Pick<ServiceSettings, "CONNECTION_KEYS">;
}

/** Creates the seal of a deployment. Every use rejects with `service_unavailable` when CONNECTION_KEYS is not set. */
export function createSealOf({ settings: { CONNECTION_KEYS } }: Deployment): Seal {
  if (CONNECTION_KEYS) return createSeal(CONNECTION_KEYS);
  const refuse = async (): Promise<never> => {
    throw errors.connectionKeysMissing();
  };
  return { seal: refuse, open: refuse, isCurrent: refuse };
}

/** Opens a run's sealed encryption key; null when the service no longer has the key that sealed it. */
export function openKey(seal: Seal, sealed: string, run_id: string): Promise<string | null> {
  return seal.open(sealed, run_id).catch(() => null);
}
