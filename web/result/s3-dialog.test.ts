import { expect, test } from "vitest";
import { corsRules, EMPTY_FORM, faultsOf, keyOf, type S3Form } from "./s3-dialog.tsx";

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
  { form: FULL, fields: [] },
  { form: EMPTY_FORM, fields: ["bucket", "endpoint", "region", "access_key_id", "secret_access_key"] },
  { form: { ...EMPTY_FORM, connection_id: "conn_1", bucket: "b.c" }, fields: [] },
  { form: { ...FULL, endpoint: "s3.example" }, fields: ["endpoint"] },
  { form: { ...FULL, endpoint: "https://user@s3.example" }, fields: ["endpoint"] },
  { form: { ...FULL, bucket: "My bucket" }, fields: ["bucket"] },
  { form: { ...FULL, prefix: "a/../b" }, fields: ["prefix"] },
  { form: { ...FULL, prefix: "é".repeat(401) }, fields: ["prefix"] },
  { form: { ...FULL, secret_access_key: "with space" }, fields: ["secret_access_key"] },
] as const)("the faults of $form are in $fields", ({ form, fields }) => {
  expect(Object.keys(faultsOf(form))).toEqual(fields);
});

test.for([
  { prefix: "films/", name: "a.mp4", isFolder: false, key: "films/a.mp4" },
  { prefix: "", name: "a.mp4", isFolder: false, key: "a.mp4" },
  { prefix: "//x-", name: "stream", isFolder: true, key: "x-stream/" },
] as const)(
  "prefix $prefix and name $name (folder: $isFolder) make the key $key",
  ({ prefix, name, isFolder, key }) => {
    expect(keyOf({ prefix }, name, isFolder)).toBe(key);
  },
);

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
