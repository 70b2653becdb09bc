import type { S3Connection } from "../../src/storage/s3/s3-connection.ts";
import type { Outside } from "../network/outside.ts";
import type { OpenConnection } from "./connections.ts";

/** How the storage of a connection is reached: by its keys, and only where the host is allowed at the time. */
export function s3Options(
  connection: OpenConnection,
  outside: Outside,
): S3Connection & { fetch(url: string, init: RequestInit): Promise<Response> } {
  const { endpoint, region, access_key_id, secret_access_key, force_path_style } = connection;
  return {
    ...{ endpoint, region, access_key_id, secret_access_key },
    ...(force_path_style !== null && { force_path_style }),
    fetch: outside.fetch,
  };
}
