import type { Storage } from "../../core/ports.ts";
import { segmentIv } from "../../ffmpeg/media-playlist.ts";
import type { Plan } from "../../plan/plan.ts";
import { requireEncoded } from "../../storage/encoded-file.ts";
import { readAll } from "../../storage/read-all.ts";
import type { WrittenFile } from "../encoder.ts";

/** What encrypts the segments of a stream. */
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
 * Writes the files of a stream from one folder to another, segments encrypted by AES-128-CBC with the padding of PKCS #7 (RFC 8216,
 * 4.3.2.4); init segments, which hold no media, as they are. Returns them with their new sizes.
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
    const plain = await readAll(stored.body);
    const isSegment = file.name.endsWith(".m4s");
    const bytes = isSegment ? await encryptSegment(plain, key, iv ?? segmentIv(file.name)) : plain;
    const { size } = await storage.write(to + file.name, bytes, file.mime);
    const { lead: _, ...facts } = file;
    encrypted.push({ ...facts, size });
  }
  return encrypted;
}

/** Encrypts a whole segment; the vector is in hexadecimal. */
export async function encryptSegment(plain: Uint8Array, key: CryptoKey, iv: string): Promise<Uint8Array> {
  const vector = Uint8Array.from({ length: 16 }, (_, at) =>
    Number.parseInt(iv.slice(2 * at, 2 * at + 2), 16),
  );
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-CBC", iv: vector },
    key,
    plain as Uint8Array<ArrayBuffer>,
  );
  return new Uint8Array(sealed);
}
