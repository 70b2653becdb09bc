import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// These watch the clock: they have the machine for themselves, after all others.
const TIMED = [
  "test/reliability/crash.test.ts",
  "test/reliability/faults.test.ts",
  "test/reliability/load.test.ts",
  "test/reliability/prompt-*.test.ts",
  "test/inputs/heavy-cancel.test.ts",
  "test/browser/client-eta.test.ts",
];
// These take longest, the longest first: begun late, one of them would keep the others' end waiting.
const LONG = [
  "matrix/pairs",
  "integrity/matrix",
  "package/package",
  "encoders/stitch-native",
  "encoders/browser-webcodecs",
  "local/service",
  "browser/client-s3",
  "local/demo",
  "matrix/video",
  "inputs/heavy",
  "matrix/geometry",
  "encoders/stitch-stream",
  "encoders/last-picture",
  "encoders/browser-pool-mt",
  "matrix/color",
  "player/hls-js",
  "integrity/sources",
  "matrix/rate",
  "storage/opfs",
  "matrix/audio",
  "container/faults",
  "browser/malformed",
  "inputs/network",
  "browser/client-bad",
  "matrix/timing",
  "worker/engine/native",
  "worker/engine/engine",
  "local/keys",
  "encoders/browser-pool",
  "matrix/adaptive",
  "browser/client-life",
  "inputs/malformed-service",
  "encoders/browser-pool-faults",
];
// Most time is spent waiting for a machine of two cores; a test that hangs still ends.
const LIMITS = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 30_000 } } };

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return at < 0 ? LONG.length : at;
    };
    // Stable: the others stay in the order of their size.
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    // Twice the cores of the machine that is to be thought of, as each file waits now and then.
    maxWorkers: 4,
    globalSetup: ["build-assets", "lab-vite", "service-pool"].map((name) => `test/fixtures/${name}.ts`),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "all",
          include: ["test/**/*.test.ts", "web/**/*.test.ts"],
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
      // A command of its own, as nothing else needs Firefox.
      ...(process.env.FRAMEWRIGHT_FIREFOX
        ? [{ test: { name: "firefox", include: ["test/browser/firefox.suite.ts"], ...LIMITS } }]
        : []),
      // So is an hour of crashes.
      ...(process.env.SOAK_MINUTES
        ? [{ test: { name: "soak", include: ["test/reliability/soak.suite.ts"], ...LIMITS } }]
        : []),
    ],
  },
});
