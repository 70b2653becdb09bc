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
export function createMac(secrets: readonly string[]): Mac {
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
