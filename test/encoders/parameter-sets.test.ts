import { expect, test } from "vitest";
import { readInBandSets } from "../../src/mux/parameter-sets.ts";

const SETS = [Uint8Array.of(0x67, 66, 0, 30, 0x80), Uint8Array.of(0x68, 0xc0)];

test.for([
  { width: 4, units: [[SETS[0]], [SETS[1]]] },
  { width: 2, units: undefined },
])("parameter sets in packets are read if sizes have 4 bytes, not $width", ({ width, units }) => {
  const packet = SETS.flatMap((set) => [...Array(width - 1).fill(0), set.length, ...set]);
  const record = Uint8Array.of(1, 66, 0, 30, 0xfc | (width - 1), 0xe0, 0);
  expect(readInBandSets(Uint8Array.from(packet), "avc", record)?.units).toEqual(units);
});
