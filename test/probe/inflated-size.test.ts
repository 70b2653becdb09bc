import { constants, deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { inflatedSize } from "../../src/probe/inflated-size.ts";

async function* pieces(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

// Linear congruential, so that the bytes do not compress but are the same in each run.
let seed = 1;
const noise = Buffer.alloc(150_000);
for (let at = 0; at < noise.length; at++) {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  noise[at] = seed >> 16;
}
const words = Buffer.from(Array.from({ length: 20_000 }, (_, at) => `${at % 97} words `).join(""));
const DATA = {
  nothing: Buffer.alloc(0),
  zeros: Buffer.alloc(2_000_000),
  noise,
  words,
  all: Buffer.concat([words, noise, words]),
};
const CODINGS = {
  stored: { level: 0 },
  best: { level: 9 },
  fixed: { strategy: constants.Z_FIXED },
  "without matches": { strategy: constants.Z_HUFFMAN_ONLY },
} as const;

test("measures the size to which zlib data expand, in any coding and any pieces", async () => {
  for (const [name, data] of Object.entries(DATA)) {
    for (const [coding, options] of Object.entries(CODINGS)) {
      const packed = deflateSync(data, options);
      for (const length of [101, 2 ** 20])
        expect(await inflatedSize(pieces(packed, length), Infinity), `${name}, ${coding}`).toBe(data.length);
    }
  }
});

test("stops beyond its limit, and at damage", async () => {
  const packed = deflateSync(DATA.zeros);
  const measured = await inflatedSize(pieces(packed, 2 ** 20), 1000);
  expect(measured > 1000 && measured <= 1258).toBe(true);
  expect(await inflatedSize(pieces(packed.subarray(0, 900), 100), Infinity)).toBeLessThan(1_000_000);
  const invalid = Buffer.from([0x78, 0x9c, 0x07]);
  expect(await inflatedSize(pieces(invalid, 1), Infinity)).toBe(0);
});

test("counts damaged data up to the damage", async () => {
  // RFC 1951, 3.2.6: the last block, with fixed codes; a zero, 400 times 258 bytes at a distance of 1, and a distance that does not exist.
  const bits = `110${"00110000"}${"1100010100000".repeat(400)}${"1100010111110"}`.padEnd(8 * 1024, "0");
  const bytes = Uint8Array.from({ length: 1024 }, (_, at) =>
    Number.parseInt([...bits.slice(8 * at, 8 * at + 8)].reverse().join(""), 2),
  );
  const packed = Buffer.concat([Buffer.from("789c", "hex"), bytes]);
  expect(await inflatedSize(pieces(packed, 2 ** 20), Infinity)).toBe(1 + 401 * 258);
});
