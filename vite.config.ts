import { defineConfig } from "vitest/config";

// These watch the clock: they have the machine for themselves, after all others.
const TIMED = [
  "test/local/service.test.ts",
  "test/reliability/**/*.test.ts",
  "test/inputs/heavy-cancel.test.ts",
];
// Most time is spent waiting for a machine of two cores; a test that hangs still ends.
const LIMITS = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 30_000 } } };

export default defineConfig({
  test: {
    maxWorkers: 2,
    globalSetup: "test/fixtures/build-assets.ts",
    projects: [
      {
        test: {
          name: "all",
          include: ["test/**/*.test.ts"],
          exclude: TIMED,
          ...LIMITS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "timed",
          include: TIMED,
          fileParallelism: false,
          ...LIMITS,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
