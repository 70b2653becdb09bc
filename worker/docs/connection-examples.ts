import type {
  Connection,
  ConnectionChange,
  ConnectionRequest,
  ConnectionTest,
  ConnectionTestRequest,
  Reencryption,
  SignedRequest,
  SigningRule,
  SignRequest,
} from "../../src/core/connection.ts";

const SIGNING: SigningRule[] = [{ bucket: "my-bucket", prefix: "films/", methods: ["GET", "PUT"] }];

/** Requests for connections, by what they are for. The credentials are the ones that AWS's documentation uses. */
export const CONNECTION_REQUESTS: Record<string, ConnectionRequest> = {
  aws: {
    name: "Archive",
    kind: "s3",
    endpoint: "https://s3.eu-central-1.amazonaws.com",
    region: "eu-central-1",
    access_key_id: "AKIAIOSFODNN7EXAMPLE",
    secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    signing: SIGNING,
  },
  self_hosted: {
    name: "Own server",
    kind: "s3",
    endpoint: "https://storage.example",
    region: "us-east-1",
    access_key_id: "AKIAIOSFODNN7EXAMPLE",
    secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    force_path_style: false,
    is_default: true,
  },
};

/** Changes of a connection. */
export const CONNECTION_CHANGES: Record<string, ConnectionChange> = {
  another_name: { name: "Old archive" },
  another_key: {
    access_key_id: "AKIAI44QH8DHBEXAMPLE",
    secret_access_key: "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
  },
  make_default: { is_default: true },
  sign_for_pages: { signing: SIGNING },
};

/** A stored connection. */
export const CONNECTION: Connection = {
  id: "conn_01kaggm8q0fzr2n5v3x7c1d9jb",
  object: "connection",
  name: "Archive",
  kind: "s3",
  endpoint: "https://s3.eu-central-1.amazonaws.com",
  region: "eu-central-1",
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  force_path_style: null,
  is_default: true,
  signing: SIGNING,
  created_at: 1_795_167_000_000,
  updated_at: 1_795_167_000_000,
};

/** Where connections are tried. */
export const CONNECTION_TEST_REQUESTS: Record<string, ConnectionTestRequest> = {
  bucket: { bucket: "my-bucket" },
  folder: { bucket: "my-bucket", prefix: "media/" },
};

/** What came of trying connections. */
export const CONNECTION_TESTS: Record<string, ConnectionTest> = {
  good: { object: "connection_test", ok: true, error: null },
  wrong_secret: {
    object: "connection_test",
    ok: false,
    error: {
      kind: "upload_forbidden",
      message:
        "storage.example refuses access to the bucket my-bucket: the signature is wrong, as happens with a wrong secret access key (it answered 403 SignatureDoesNotMatch).",
    },
  },
};

/** The outcome of encrypting secrets again. */
export const REENCRYPTIONS: Record<string, Reencryption> = {
  done: { object: "reencryption", connections: 3, webhook_secrets: 2, reencrypted: 5, failed: [] },
  again: { object: "reencryption", connections: 3, webhook_secrets: 2, reencrypted: 0, failed: [] },
};

/** Requests to sign. */
export const SIGN_REQUESTS: Record<string, SignRequest> = {
  put: {
    ...{ method: "PUT", bucket: "my-bucket", key: "films/clip.mp4" },
    ...{ content_type: "video/mp4", content_length: 3_120_400, seconds: 600 },
  },
  read: { method: "GET", bucket: "my-bucket", key: "films/clip.mp4" },
};

/** A signed request. */
export const SIGNED_REQUEST: SignedRequest = {
  object: "signed_request",
  url: "https://my-bucket.s3.eu-central-1.amazonaws.com/films/clip.mp4?X-Amz-Expires=600&X-Amz-Signature=…",
  headers: { "content-type": "video/mp4" },
  expires_at: 1_795_167_600_000,
};
