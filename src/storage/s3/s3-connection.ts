import * as errors from "../errors.ts";

/** Location and keys of S3 storage: the fields of a stored connection. */
export interface S3Connection {
  /** URL of the service without a bucket, such as `https://s3.eu-west-1.amazonaws.com`; may have a path. */
  endpoint: string;
  /** The service's name of the region: `auto` for R2; for Ceph and MinIO as configured, otherwise `us-east-1`. */
  region: string;
  /** Id of the access key. */
  access_key_id: string;
  /** Secret of the access key, with which requests are signed. */
  secret_access_key: string;
  /** Session token of temporary keys. */
  session_token?: string;
  /**
   * Whether the bucket is part of the path (true) or of the host name (false).
   *
   * @default false for AWS, where new buckets require it; true elsewhere, where every service accepts it
   */
  force_path_style?: boolean;
}

/** A bucket and a key in it. */
export interface S3Place {
  bucket: string;
  key: string;
}

const MAX_KEY_BYTES = 1024;

/**
 * Parses `s3://<bucket>/<key>`, with the key taken literally. Throws `invalid_output` for any other form and for keys that
 * no URL can express.
 */
export function parseS3Url(url: string): S3Place {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/su.exec(url) ?? [];
  if (bucket === undefined || key === undefined) throw errors.s3UrlMalformed();
  checkKey(key);
  return { bucket, key };
}

/**
 * Returns the URL of an object, or of the bucket when the key is empty. Throws `invalid_output` for keys that no URL can
 * express, and `request_invalid` for a malformed endpoint.
 */
export function objectUrl(
  { endpoint, force_path_style }: Pick<S3Connection, "endpoint" | "force_path_style">,
  { bucket, key }: S3Place,
  query: Readonly<Record<string, string>> = {},
): string {
  const base = URL.parse(endpoint);
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.search || base.hash) {
    throw errors.endpointMalformed();
  }
  checkKey(key);
  // A bucket name with a dot matches no certificate for *.s3.amazonaws.com.
  const virtual =
    force_path_style === undefined
      ? /\.amazonaws\.com(\.cn)?$/.test(base.hostname) && !bucket.includes(".")
      : !force_path_style;
  const host = virtual ? `${bucket}.${base.host}` : base.host;
  const folder = base.pathname.replace(/\/+$/, "");
  const path = virtual ? `${folder}/${encodeKey(key)}` : `${folder}/${encode(bucket)}/${encodeKey(key)}`;
  const names = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
  const bare = !virtual && key === "" ? path.replace(/\/$/, "") : path;
  return `${base.protocol}//${host}${bare}${names.length > 0 ? `?${names.join("&")}` : ""}`;
}

function checkKey(key: string): void {
  if (!key.isWellFormed()) throw errors.keyNotUnicode();
  if (new TextEncoder().encode(key).length > MAX_KEY_BYTES)
    throw errors.keyTooLong({ maxBytes: MAX_KEY_BYTES });
  // URL parsers remove them even when encoded.
  if (key.split("/").some((part) => part === "." || part === "..")) throw errors.keyWithDots();
}

function encodeKey(key: string): string {
  return key.split("/").map(encode).join("/");
}

// RFC 3986 and S3 signatures leave only letters, digits and -_.~ unencoded.
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
