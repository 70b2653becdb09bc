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
  "reliability/soak.suite",
  "package/package.test",
  "integrity/matrix.test",
  "client/remote.test",
  "encoders/fast/decoding.test",
  "matrix/pairs.test",
  "player/whole.test",
  "local/service.test",
  "matrix/burnt-words.test",
  "local/demo.test",
  "player/chunked.test",
  "encoders/browser-pool-mt.test",
  "encoders/last-picture.test",
  "matrix/geometry.test",
  "browser/encoder-table.test",
  "player/tracks.test",
  "matrix/metadata.test",
  "worker/images/native.test",
  "encoders/fast/damaged.test",
  "inputs/arriving.test",
  "worker/engine/pinned.test",
  "encoders/browser-webcodecs.test",
  "worker/engine/native.test",
  "matrix/adaptive.test",
  "encoders/stitch-stream.test",
  "encoders/stitch-native.test",
  "encoders/fast/kernels.test",
  "matrix/concat-copy.test",
  "browser/client-svg.test",
  "browser/client-pictures.test",
  "matrix/video.test",
  "inputs/heavy.test",
  "browser/client-s3.test",
  "matrix/color.test",
  "browser/malformed.test",
  "matrix/shaped.test",
  "matrix/rate.test",
  "matrix/turned.test",
  "container/ending.test",
  "container/formats.test",
  "encoders/first-picture.test",
  "encoders/subtitles.test",
  "probe/probe.test",
  "local/keys.test",
  "matrix/audio.test",
  "matrix/timing.test",
  "integrity/sources.test",
  "inputs/network.test",
  "inputs/malformed-service.test",
  "inputs/malformed-native.test",
  "encoders/browser-pool.test",
  "worker/api/docs.test",
  "storage/opfs.test",
  "container/faults.test",
  "matrix/tracks.test",
  "local/account.test",
  "worker/webhooks/service.test",
  "encoders/stitch.test",
  "browser/client-bad.test",
];
// Most time is spent waiting for a machine of two cores; a test that hangs still ends.
const LIMITS = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 30_000 } } };

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Stable: the others stay in the order of their size.
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other));
  }

  // Deals the long files out evenly, in an order that no earlier run changes.
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    return files
      .toSorted((one, other) => placeOf(one) - placeOf(other) || (one.moduleId < other.moduleId ? -1 : 1))
      .filter((_, at) => at % count === index - 1);
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.ts`));
  return at < 0 ? LONG.length : at;
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
      // An hour of crashes is a command of its own, of which CI runs some minutes.
      ...(Number(process.env.SOAK_MINUTES) > 0
        ? [
            {
              test: {
                name: "soak",
                include: ["test/reliability/soak.suite.ts"],
                ...LIMITS,
                sequence: { groupOrder: 0 },
              },
            },
          ]
        : []),
    ],
  },
});
