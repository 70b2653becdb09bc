import { expect, test } from "vitest";
import { fromBase64Url, sha256Hex, toBase64, toBase64Url, toHex } from "../../src/util/bytes.ts";

const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7 + (at >> 8)) % 256);

test.for([0, 1, 2, 3, 255, 24_573, 24_574, 100_000])("encodes %i bytes as Node does", (size) => {
  const part = bytes.subarray(0, size);
  expect(toHex(part)).toBe(Buffer.from(part).toString("hex"));
  expect(toBase64(part)).toBe(Buffer.from(part).toString("base64"));
  expect(toBase64Url(part)).toBe(Buffer.from(part).toString("base64url"));
  expect(fromBase64Url(toBase64Url(part))).toEqual(part);
});

test("rejects text that is not base64url", () => {
  expect(() => fromBase64Url("a!")).toThrow(DOMException);
});

test("matches the SHA-256 example of FIPS 180-4", async () => {
  expect(await sha256Hex(new TextEncoder().encode("abc"))).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
