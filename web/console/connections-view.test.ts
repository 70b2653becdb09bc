import { expect, test } from "vitest";
import { parseSigning, writeSigning } from "./connections-view.tsx";

test("reads the lines that it writes", () => {
  const text = "GET,PUT my-bucket/films/\nDELETE other.bucket/\nGET my-bucket/a b/c";
  const rules = parseSigning(text);
  expect(rules).toEqual([
    { bucket: "my-bucket", prefix: "films/", methods: ["GET", "PUT"] },
    { bucket: "other.bucket", prefix: "", methods: ["DELETE"] },
    { bucket: "my-bucket", prefix: "a b/c", methods: ["GET"] },
  ]);
  expect(writeSigning(rules)).toBe(text);
});

test("accepts other cases, spaces and empty lines", () => {
  expect(parseSigning("\n  put,get   my-bucket \n\n")).toEqual([
    { bucket: "my-bucket", prefix: "", methods: ["GET", "PUT"] },
  ]);
  expect(parseSigning("")).toEqual([]);
});

test.for(["my-bucket", "GET", "HEAD my-bucket", "GET,POST my-bucket", "GET, PUT my-bucket", "GET /films"])(
  "rejects %j",
  (text) => {
    expect(() => parseSigning(text)).toThrow(/^Write each line as GET,PUT my-bucket\/films\//);
  },
);
