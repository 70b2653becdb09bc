import { defineConfig } from "vitest/config";

const ALONE = ["test/local/**/*.test.ts", "test/reliability/**/*.test.ts"];

// Exported for Vitest alone.
export default defineConfig({
  test: {
    globalSetup: "test/global-setup.ts",
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "all",
          include: ["test/**/*.test.ts"],
          exclude: ALONE,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // What starts services of its own and watches the clock has the machine for itself.
        test: {
          name: "alone",
          include: ALONE,
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
