import { MediaError } from "../../core/errors.ts";

/** Where S3 storage is and by which key it is reached: the fields of a stored connection. */
export interface S3Connection {
  /** Address of the service without a bucket, such as `https://s3.eu-west-1.amazonaws.com`; it may have a path. */
  endpoint: string;
  /** As the service calls it; `auto` for R2, and what was set up (else `us-east-1`) for Ceph and MinIO. */
  region: string;
  access_key_id: string;
  secret_access_key: string;
  /** Of keys that expire. */
  session_token?: string;
  /** True: the bucket stands in the path; false: in the host's name. Default false for AWS, whose new buckets ask for it, and true elsewhere, where all take it. */
  force_path_style?: boolean;
}

/** A bucket and a key in it. */
export interface S3Place {
  bucket: string;
  key: string;
}

// https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
const MAX_KEY_BYTES = 1024;

/** Reads `s3://<bucket>/<key>`, the key as it is written; throws `invalid_output` for any other shape and for keys that no URL can name. */
export function parseS3Url(url: string): S3Place {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/su.exec(url) ?? [];
  if (bucket === undefined || key === undefined) {
    throw new MediaError("invalid_output", "An S3 URL must have the shape s3://<bucket>/<key>.");
  }
  checkKey(key);
  return { bucket, key };
}

/** Gives the URL of an object, or with an empty key of the bucket. Throws `invalid_output` for keys that no URL can name, `request_invalid` for an endpoint that is none. */
export function objectUrl(
  { endpoint, force_path_style }: Pick<S3Connection, "endpoint" | "force_path_style">,
  { bucket, key }: S3Place,
  query: Readonly<Record<string, string>> = {},
): string {
  const base = URL.parse(endpoint);
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.search || base.hash) {
    throw new MediaError("request_invalid", "endpoint must be a URL that starts with https:// or http://.", {
      param: "endpoint",
    });
  }
  checkKey(key);
  // A name with a dot fits no certificate of the form *.s3.amazonaws.com.
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
  const fault = (why: string) => new MediaError("invalid_output", `The key of an S3 object ${why}.`);
  if (!key.isWellFormed()) throw fault("must be whole Unicode text");
  if (new TextEncoder().encode(key).length > MAX_KEY_BYTES)
    throw fault(`must not be longer than ${MAX_KEY_BYTES} bytes`);
  // Whatever way they are written, URLs drop them.
  if (key.split("/").some((part) => part === "." || part === ".."))
    throw fault("must not have . or .. between slashes");
}

function encodeKey(key: string): string {
  return key.split("/").map(encode).join("/");
}

// RFC 3986, as signatures have it: nothing but letters, digits and -_.~ stays.
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
