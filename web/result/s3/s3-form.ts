/** The destination that a visitor enters for a file. */
export interface S3Form {
  /** Id of the service's connection that signs; null when the keys below do. */
  readonly connection_id: string | null;
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Start of the key, such as a folder with a trailing slash. */
  readonly prefix: string;
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

export const EMPTY_FORM: S3Form = {
  connection_id: null,
  endpoint: "",
  region: "",
  bucket: "",
  prefix: "",
  access_key_id: "",
  secret_access_key: "",
};

/** Returns the errors in a form by field; empty when it can be sent. */
export function faultsOf(form: S3Form): Partial<Record<keyof S3Form, string>> {
  const faults: Partial<Record<keyof S3Form, string>> = {};
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(form.bucket))
    faults.bucket = "Enter the name of the bucket: lowercase letters, digits, dots and hyphens.";
  if (new TextEncoder().encode(form.prefix).length > 800) faults.prefix = "Make it shorter than 800 bytes.";
  else if (form.prefix.split("/").some((part) => part === "." || part === ".."))
    faults.prefix = "It must not contain . or .. between slashes.";
  if (form.connection_id !== null) return faults;
  const url = URL.parse(form.endpoint);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    faults.endpoint = "Enter the address of the storage, starting with https://, without the bucket.";
  for (const [name, what] of [
    ["region", "the region, such as us-east-1, or auto"],
    ["access_key_id", "the access key"],
    ["secret_access_key", "the secret key"],
  ] as const)
    if (!/^[\x21-\x7e]+$/.test(form[name])) faults[name] = `Enter ${what}.`;
  return faults;
}

/**
 * Returns the key of an output: the prefix without leading slashes, and the name; for a stream the folder, with a trailing
 * slash.
 */
export function keyOf({ prefix }: Pick<S3Form, "prefix">, name: string, is_folder: boolean): string {
  return `${prefix.replace(/^\/+/, "")}${name}${is_folder ? "/" : ""}`;
}

/** Returns the CORS rules, in S3's format, that let a page of an origin upload to a bucket. */
export function corsRules(origin: string): string {
  const rule = {
    AllowedOrigins: [origin],
    AllowedMethods: ["GET", "HEAD", "PUT", "POST", "DELETE"],
    AllowedHeaders: ["*"],
    ExposeHeaders: ["ETag", "Content-Range"],
  };
  return JSON.stringify([rule], null, 2);
}
