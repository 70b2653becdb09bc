import type { HttpFile } from "../../src/storage/http/reader.ts";
import type { HttpOptions } from "../../src/storage/http/request.ts";
import { createS3Bucket, type S3Bucket } from "../../src/storage/s3/bucket.ts";
import { openS3, signedOptions } from "../../src/storage/s3/objects.ts";
import { parseS3Url, type S3Connection } from "../../src/storage/s3/s3-connection.ts";
import { createS3Signer } from "../../src/storage/s3/s3-sign.ts";
import { createOutsideOf, type Env } from "../env.ts";
import { errors } from "../errors.ts";
import { createConnections } from "./connections.ts";
import { s3Options } from "./s3-options.ts";
import { createSealOf } from "./seal-of.ts";

/** The caller's own S3 storage, by the connection that is tied to a run. Everything rejects with `connection_not_found` when that is gone. */
export interface OwnStorage {
  /** Opens `s3://<bucket>/<key>` as a source, by another connection than that of the run where one is named. */
  open(
    url: string,
    options: Omit<HttpOptions, "guard" | "fetch">,
    connection_id?: string | null,
  ): Promise<HttpFile>;
  /** Returns how the ranges of a known object are read, at a URL that stands for it. */
  source(
    url: string,
    options: Omit<HttpOptions, "guard" | "fetch">,
    connection_id?: string | null,
  ): Promise<{ url: string; options: HttpOptions }>;
  bucket(name: string): Promise<S3Bucket>;
}

type Reach = ReturnType<typeof s3Options>;

/** Builds the own storage of a run; the connection is read when it is first needed. */
export function createOwnStorage(env: Env, project: string, run_id: string): OwnStorage {
  const outside = createOutsideOf(env);
  const connections = createConnections((name) => env.PROJECT.getByName(name), createSealOf(env));

  async function reach(wanted: string | null = null): Promise<Reach & S3Connection> {
    const connection =
      wanted === null ? await connections.openOf(project, run_id) : await connections.open(project, wanted);
    if (!connection) throw errors.connectionOfRunDeleted();
    await outside.guard(connection.endpoint);
    return s3Options(connection, outside);
  }

  return {
    async open(url, options, connection_id) {
      const { bucket, key } = parseS3Url(url);
      const { fetch, ...connection } = await reach(connection_id);
      return openS3(createS3Signer(connection, bucket), key, { ...options, fetch });
    },
    async source(url, options, connection_id) {
      const { bucket, key } = parseS3Url(url);
      const { fetch, ...connection } = await reach(connection_id);
      const signer = createS3Signer(connection, bucket);
      return { url: `s3://${bucket}/`, options: signedOptions(signer, key, { ...options, fetch }) };
    },
    async bucket(name) {
      const { fetch, ...connection } = await reach();
      return createS3Bucket(createS3Signer(connection, name), { fetch });
    },
  };
}
