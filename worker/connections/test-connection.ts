import { toMediaError } from "../../src/media/errors.ts";
import type { ConnectionTest } from "../../src/runs/connection.ts";
import type { Storage } from "../../src/runs/ports.ts";
import { createS3Bucket } from "../../src/storage/s3/bucket.ts";
import { storageOf } from "../../src/storage/s3/s3.ts";
import { createS3Signer } from "../../src/storage/s3/s3-sign.ts";
import { readSome } from "../../src/storage/storage.ts";
import { errors } from "../errors.ts";
import type { Outside } from "../network/outside.ts";
import type { OpenConnection } from "./connections.ts";
import { s3Options } from "./s3-options.ts";

// The caller waits for the answer.
const PATIENCE = { tries: 2, timeoutMs: 10_000 };

/** Writes a small object, reads it back and deletes it; never rejects. */
export async function testConnection(
  connection: OpenConnection,
  bucket: string,
  key: string,
  outside: Outside,
): Promise<ConnectionTest> {
  const options = { ...s3Options(connection, outside), ...PATIENCE };
  const s3 = createS3Bucket(createS3Signer(options, bucket), options);
  const storage = storageOf(s3);
  try {
    await outside.guard(connection.endpoint);
    await storage.write(key, new TextEncoder().encode(key), "text/plain");
    // By its key alone: not every key that may store may list.
    const remove = () => s3.ask({ method: "DELETE", key }, { purpose: "write", expected: [404] });
    const same = await isKept(storage, key).finally(remove);
    if (!same) throw errors.testObjectChanged();
    return { object: "connection_test", ok: true, error: null };
  } catch (thrown) {
    const { kind, message } = toMediaError(thrown, "upload_failed");
    return { object: "connection_test", ok: false, error: { kind, message } };
  }
}

async function isKept(storage: Storage, key: string): Promise<boolean> {
  const stored = await storage.read(key);
  if (!stored) return false;
  const most = new TextEncoder().encode(key).length;
  const bytes = await readSome(stored.body, most, AbortSignal.timeout(PATIENCE.timeoutMs));
  return new TextDecoder().decode(bytes) === key;
}
