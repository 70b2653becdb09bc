import { segmentIv } from "../../media/ffmpeg/manifests.ts";
import type { Plan } from "../../media/plan.ts";
import type { Storage } from "../../runs/ports.ts";
import { requireEncoded } from "../../storage/storage.ts";
import { concatBytes } from "../../util/bytes.ts";
import type { WrittenFile } from "../encoder.ts";

/** Key and initialization vector of a stream's segments. */
export interface Encryption {
  key: CryptoKey;
  iv: NonNullable<Plan["encryption"]>["iv"];
}

/** Progress and cancellation of the encryption of many segments. */
export interface EncryptHooks {
  signal: AbortSignal;
  /** Called before each file. */
  onFile(): void;
}

/** Imports the 16 bytes of a key as a `CryptoKey` that is not extractable. */
export function importContentKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, "AES-CBC", false, ["encrypt"]);
}

/**
 * Copies the files of a stream to another folder and encrypts the segments with AES-128-CBC and PKCS #7 padding (RFC 8216, 4.3.2.4);
 * init segments, which contain no media, stay as they are. Returns the files with their new sizes.
 */
export async function encryptSegments(
  storage: Storage,
  files: readonly WrittenFile[],
  { from, to }: { from: string; to: string },
  { key, iv }: Encryption,
  { signal, onFile }: EncryptHooks,
): Promise<WrittenFile[]> {
  const encrypted: WrittenFile[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    onFile();
    const stored = requireEncoded(await storage.read(from + file.name));
    const isSegment = file.name.endsWith(".m4s");
    const body = isSegment
      ? stored.body.pipeThrough(encryptSegment(key, iv ?? segmentIv(file.name)), { signal })
      : stored.body;
    const { size } = await storage.write(to + file.name, body, file.mime);
    const { lead: _, ...facts } = file;
    encrypted.push({ ...facts, size });
  }
  return encrypted;
}

const BLOCK = 16;

/** Encrypts one segment as a stream, in constant memory; `iv` is hexadecimal. */
export function encryptSegment(key: CryptoKey, iv: string): TransformStream<Uint8Array, Uint8Array> {
  let vector = Uint8Array.from({ length: BLOCK }, (_, at) =>
    Number.parseInt(iv.slice(2 * at, 2 * at + 2), 16),
  );
  let rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  const seal = async (bytes: Uint8Array<ArrayBuffer>) =>
    new Uint8Array(await crypto.subtle.encrypt({ name: "AES-CBC", iv: vector }, key, bytes));
  return new TransformStream({
    async transform(piece, controller) {
      const bytes = concatBytes([rest, piece]);
      const whole = bytes.length - (bytes.length % BLOCK);
      rest = bytes.slice(whole);
      if (whole === 0) return;
      // CBC chains blocks through the vector; only the end of a segment is padded.
      const sealed = (await seal(bytes.subarray(0, whole))).subarray(0, whole);
      vector = sealed.slice(-BLOCK);
      controller.enqueue(sealed);
    },
    async flush(controller) {
      controller.enqueue(await seal(rest));
    },
  });
}
