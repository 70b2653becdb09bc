import type { ConnectionTest } from "../../src/core/connection.ts";
import { MediaError, toMediaError } from "../../src/core/errors.ts";
import { readAll } from "../../src/storage/read-all.ts";
import { createS3Storage } from "../../src/storage/s3/s3.ts";
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
  const storage = createS3Storage({ ...s3Options(connection, outside), ...PATIENCE, bucket });
  const text = new TextEncoder().encode(key);
  try {
    await outside.guard(connection.endpoint);
    await storage.write(key, text, "text/plain");
    const stored = await storage.read(key);
    const same = stored && new TextDecoder().decode(await readAll(stored.body)) === key;
    await storage.clear(key);
    if (!same) throw new MediaError("upload_failed", "What was written could not be read back.");
    return { object: "connection_test", ok: true, error: null };
  } catch (thrown) {
    const { kind, message } = toMediaError(thrown, "upload_failed");
    return { object: "connection_test", ok: false, error: { kind, message } };
  }
}
