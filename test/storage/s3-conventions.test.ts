import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createS3Bucket } from "../../src/storage/s3/bucket.ts";
import { objectUrl } from "../../src/storage/s3/s3-connection.ts";
import { createS3Signer, presignS3 } from "../../src/storage/s3/s3-sign.ts";

describe("object URLs follow the conventions of each service", () => {
  const key = "folder/a b+c%.mp4";
  test.for<{ endpoint: string; force_path_style: boolean | undefined; bucket: string; start: string }>([
    {
      endpoint: "https://s3.eu-west-1.amazonaws.com",
      force_path_style: undefined,
      bucket: "films",
      start: "https://films.s3.eu-west-1.amazonaws.com/",
    },
    {
      endpoint: "https://s3.cn-north-1.amazonaws.com.cn",
      force_path_style: undefined,
      bucket: "films",
      start: "https://films.s3.cn-north-1.amazonaws.com.cn/",
    },
    {
      endpoint: "https://s3.eu-west-1.amazonaws.com",
      force_path_style: undefined,
      bucket: "my.films",
      start: "https://s3.eu-west-1.amazonaws.com/my.films/",
    },
    {
      endpoint: "https://s3.eu-west-1.amazonaws.com",
      force_path_style: true,
      bucket: "films",
      start: "https://s3.eu-west-1.amazonaws.com/films/",
    },
    {
      endpoint: "https://abc.r2.cloudflarestorage.com",
      force_path_style: undefined,
      bucket: "films",
      start: "https://abc.r2.cloudflarestorage.com/films/",
    },
    {
      endpoint: "https://abc.eu.r2.cloudflarestorage.com/",
      force_path_style: false,
      bucket: "films",
      start: "https://films.abc.eu.r2.cloudflarestorage.com/",
    },
    {
      endpoint: "https://s3.us-west-004.backblazeb2.com",
      force_path_style: undefined,
      bucket: "films",
      start: "https://s3.us-west-004.backblazeb2.com/films/",
    },
    {
      endpoint: "https://nyc3.digitaloceanspaces.com",
      force_path_style: undefined,
      bucket: "films",
      start: "https://nyc3.digitaloceanspaces.com/films/",
    },
    {
      endpoint: "https://nyc3.digitaloceanspaces.com",
      force_path_style: false,
      bucket: "films",
      start: "https://films.nyc3.digitaloceanspaces.com/",
    },
    {
      endpoint: "http://127.0.0.1:9000",
      force_path_style: undefined,
      bucket: "films",
      start: "http://127.0.0.1:9000/films/",
    },
    {
      endpoint: "http://localhost:8080/below/here/",
      force_path_style: undefined,
      bucket: "films",
      start: "http://localhost:8080/below/here/films/",
    },
  ])(
    "$endpoint, path style $force_path_style, bucket $bucket",
    ({ endpoint, force_path_style, bucket, start }) => {
      const connection = { endpoint, ...(force_path_style !== undefined && { force_path_style }) };
      const url = objectUrl(connection, { bucket, key }, { uploadId: "a+b/c=", uploads: "" });
      expect(url).toBe(`${start}folder/a%20b%2Bc%25.mp4?uploadId=a%2Bb%2Fc%3D&uploads=`);
      expect(new URL(url).href).toBe(url);
    },
  );

  test("handles a bucket without a key, and rejects an invalid endpoint", () => {
    const endpoint = "https://s3.example";
    expect(objectUrl({ endpoint }, { bucket: "films", key: "" })).toBe("https://s3.example/films");
    expect(objectUrl({ endpoint, force_path_style: false }, { bucket: "films", key: "" })).toBe(
      "https://films.s3.example/",
    );
    for (const wrong of [
      "s3.example",
      "ftp://s3.example",
      "https://me@s3.example",
      "https://s3.example?a=b",
    ]) {
      expect(() => objectUrl({ endpoint: wrong }, { bucket: "films", key })).toThrow(
        /^endpoint must be a URL/,
      );
    }
  });
});

describe("requests to each service", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 21, 15, 4, 5) }));
  afterEach(() => void vi.useRealTimers());

  const keys = { access_key_id: "AK", secret_access_key: "secret/of+the=key" };
  const key = "a b+ü%.mp4";
  const path = "a%20b%2B%C3%BC%25.mp4";
  // Region names as the services use them.
  const SERVICES = [
    ["AWS", "https://s3.eu-west-1.amazonaws.com", "eu-west-1", "https://films.s3.eu-west-1.amazonaws.com/"],
    ["R2", "https://abc.r2.cloudflarestorage.com", "auto", "https://abc.r2.cloudflarestorage.com/films/"],
    [
      "Backblaze",
      "https://s3.us-west-004.backblazeb2.com",
      "us-west-004",
      "https://s3.us-west-004.backblazeb2.com/films/",
    ],
    ["Spaces", "https://nyc3.digitaloceanspaces.com", "nyc3", "https://nyc3.digitaloceanspaces.com/films/"],
    ["MinIO", "http://minio.example:9000", "us-east-1", "http://minio.example:9000/films/"],
    ["Ceph", "https://ceph.example/swift-less", "default", "https://ceph.example/swift-less/films/"],
  ] as const;

  test.for(SERVICES)(
    "%s: sends the expected URL and headers, and no others",
    async ([, endpoint, region, start]) => {
      const sent: [string, RequestInit][] = [];
      const bucket = createS3Bucket(createS3Signer({ endpoint, region, ...keys }, "films"), {
        async fetch(url, init) {
          sent.push([url, init]);
          return new Response(null, { status: 200, headers: { etag: '"x"' } });
        },
      });
      const body = new TextEncoder().encode("film");
      const request = { method: "PUT", key, headers: { "content-type": "video/mp4" }, body } as const;
      await bucket.send(request, { purpose: "write" });
      const [[url, init]] = sent as [[string, RequestInit]];
      expect([url, init.method, init.redirect]).toEqual([start + path, "PUT", "manual"]);
      // `printf film | sha256sum`
      const hash = "d0607f7ad2628b2af9158dfba06ce87166e66b15bf68f8f358f9aa27ccb7c321";
      expect(init.headers).toEqual({
        "content-type": "video/mp4",
        "x-amz-content-sha256": hash,
        "x-amz-date": "20261121T150405Z",
        authorization: expect.stringMatching(
          new RegExp(
            `^AWS4-HMAC-SHA256 Credential=AK/20261121/${region}/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$`,
          ),
        ),
      });
    },
  );

  test.for(SERVICES)(
    "%s: presigns a URL for a page with all bound values",
    async ([, endpoint, region, start]) => {
      const headers = { "content-type": "video/mp4", "content-length": "10" };
      const query = { partNumber: "1", uploadId: "a+b/c=" };
      const request = { method: "PUT", key, query, headers } as const;
      const url = new URL(await presignS3({ endpoint, region, ...keys }, "films", request, 600));
      expect(url.origin + url.pathname).toBe(start + path);
      const { "X-Amz-Signature": signature, ...rest } = Object.fromEntries(url.searchParams);
      expect(signature).toMatch(/^[0-9a-f]{64}$/);
      expect(rest).toEqual({
        ...query,
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": `AK/20261121/${region}/s3/aws4_request`,
        "X-Amz-Date": "20261121T150405Z",
        "X-Amz-Expires": "600",
        "X-Amz-SignedHeaders": "content-length;content-type;host",
      });
      expect(url.search).not.toContain("+");
    },
  );

  test("sends a temporary key with its token", async () => {
    const connection = {
      endpoint: "https://s3.example",
      region: "us-east-1",
      ...keys,
      session_token: "to/ken",
    };
    const { headers } = await createS3Signer(connection, "films").sign({ method: "GET", key });
    expect(headers).toMatchObject({
      "x-amz-security-token": "to/ken",
      authorization: expect.stringContaining("x-amz-security-token"),
    });
  });
});
