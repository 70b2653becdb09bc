import { expect, test } from "vitest";
import { corsRules, EMPTY_FORM, faultsOf, keyOf, type S3Form } from "./s3-upload.ts";

const FULL: S3Form = {
  connection_id: null,
  endpoint: "https://s3.eu-central-1.amazonaws.com",
  region: "eu-central-1",
  bucket: "my-bucket",
  prefix: "films/",
  access_key_id: "KEY",
  secret_access_key: "secret/+=",
};

test.for([
  [FULL, []],
  [EMPTY_FORM, ["bucket", "endpoint", "region", "access_key_id", "secret_access_key"]],
  [{ ...EMPTY_FORM, connection_id: "conn_1", bucket: "b.c" }, []],
  [{ ...FULL, endpoint: "s3.example" }, ["endpoint"]],
  [{ ...FULL, endpoint: "https://user@s3.example" }, ["endpoint"]],
  [{ ...FULL, bucket: "My bucket" }, ["bucket"]],
  [{ ...FULL, prefix: "a/../b" }, ["prefix"]],
  [{ ...FULL, prefix: "é".repeat(401) }, ["prefix"]],
  [{ ...FULL, secret_access_key: "with space" }, ["secret_access_key"]],
] as const)("the faults of %j are in %j", ([form, fields]) => {
  expect(Object.keys(faultsOf(form))).toEqual(fields);
});

test.for([
  ["films/", "a.mp4", false, "films/a.mp4"],
  ["", "a.mp4", false, "a.mp4"],
  ["//x-", "stream", true, "x-stream/"],
] as const)("prefix %j and name %j (folder: %s) make the key %j", ([prefix, name, isFolder, key]) => {
  expect(keyOf({ prefix }, name, isFolder)).toBe(key);
});

test("the CORS rules allow the page's origin and expose the headers that it reads", () => {
  expect(JSON.parse(corsRules("https://page.example"))).toEqual([
    {
      AllowedOrigins: ["https://page.example"],
      AllowedMethods: ["GET", "HEAD", "PUT", "POST", "DELETE"],
      AllowedHeaders: ["*"],
      ExposeHeaders: ["ETag", "Content-Range"],
    },
  ]);
});
