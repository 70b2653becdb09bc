import { expect, test } from "vitest";
import { saving } from "./saving.ts";

test.for([
  [12_400_000, 3_100_000, "12.4 MB → 3.1 MB, 75 % smaller"],
  [1000, 1000, "1 kB → 1 kB, as large as before"],
  [100_000, 99_900, "100 kB → 99.9 kB, less than 1 % smaller"],
  [9_000_000, 1000, "9 MB → 1 kB, more than 99 % smaller"],
  [1000, 1380, "1 kB → 1.38 kB, 38 % larger"],
  [100_000, 100_100, "100 kB → 100 kB, less than 1 % larger"],
  [1000, 3240, "1 kB → 3.24 kB, 3.2 times as large"],
  [0, 5, "0 B → 5 B, larger"],
] as const)("%d bytes to %d: %s", ([before, after, text]) => {
  expect(saving(before, after)).toBe(text);
});
