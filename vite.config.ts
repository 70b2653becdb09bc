import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { SLOWEST } from "./test/slowest.ts";

const FOLDERS = "{test,web}";
const fixtures = (...names: string[]) => names.map((name) => `test/fixtures/${name}.ts`);
// A loaded machine is slow; a test that hangs still ends.
const SLOW = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 30_000 } },
  setupFiles: fixtures("file-hooks"),
  // Twice the cores that a small machine has, as each file waits now and then.
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
};
// Loading the modules and the core takes longer than many a file, so the files of a process share them.
const SHARED = { ...SLOW, isolate: false };

/**
 * Orders the files project by project, as a process is reused only for a file of the same project, for which it has the modules loaded.
 * Within a project, those of {@link SLOWEST} are first, as a new machine has no durations and a part of a file that ran alone has a short
 * one; the others follow by the durations of the last run, the slowest first.
 */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const order = (file: TestSpecification) => file.project.config.sequence.groupOrder;
    const duration = (file: TestSpecification) =>
      this.ctx.cache.getTestSpecificationResult(file)?.duration ?? Number.POSITIVE_INFINITY;
    const rank = (file: TestSpecification) => {
      const place = SLOWEST.indexOf(relative(import.meta.dirname, file.moduleId));
      return place < 0 ? SLOWEST.length : place;
    };
    const project = (one: TestSpecification, other: TestSpecification) =>
      one.project.name.localeCompare(other.project.name);
    // Two unknown durations compare as NaN, which leaves the files in the order of their size.
    return sorted.sort(
      (one, other) =>
        order(one) - order(other) ||
        project(one, other) ||
        rank(one) - rank(other) ||
        duration(other) - duration(one),
    );
  }
}

export default defineConfig({
  // The durations of the last run survive a fresh clone.
  cacheDir: join(tmpdir(), "framewright-vitest"),
  test: {
    sequence: { sequencer: SlowestFirst },
    retry: Number(process.env.TEST_RETRIES ?? 0),
    reporters: process.env.TEST_REPORT ? ["default", "./test/report.ts"] : ["default"],
    tags: [{ name: "smoke", description: "part of npm test although slow" }],
    projects: [
      {
        test: {
          name: "fast",
          include: [`${FOLDERS}/**/*.test.ts`],
          exclude: [`${FOLDERS}/**/*.{ffmpeg,service,browser,timed}.test.ts`],
          isolate: false,
          maxWorkers: 2,
          testTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      // Starts programs or threads.
      {
        test: {
          ...SHARED,
          name: "ffmpeg",
          include: [`${FOLDERS}/**/*.ffmpeg.test.ts`],
          globalSetup: fixtures("build-assets"),
        },
      },
      // Talks to a server or a Worker.
      {
        test: {
          ...SHARED,
          name: "service",
          include: [`${FOLDERS}/**/*.service.test.ts`],
          globalSetup: fixtures("build-assets", "service-pool"),
        },
      },
      {
        test: {
          ...SLOW,
          name: "browser",
          include: [`${FOLDERS}/**/*.browser.test.ts`],
          globalSetup: fixtures("build-assets", "chromium", "lab-vite", "service-pool"),
        },
      },
      // Watches the clock, so each file has the machine for itself.
      {
        test: {
          ...SLOW,
          name: "timed",
          include: [`${FOLDERS}/**/*.timed.test.ts`],
          globalSetup: fixtures("build-assets", "chromium", "lab-vite", "service-pool"),
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      // Only this command needs Firefox.
      ...(process.env.FRAMEWRIGHT_FIREFOX
        ? [
            {
              test: {
                ...SLOW,
                name: "firefox",
                include: ["test/browser/firefox.suite.ts"],
                globalSetup: fixtures("build-assets", "lab-vite"),
              },
            },
          ]
        : []),
      // An hour of crashes is a command of its own, of which CI runs some minutes.
      ...(Number(process.env.SOAK_MINUTES) > 0
        ? [
            {
              test: {
                ...SLOW,
                name: "soak",
                include: ["test/reliability/soak.suite.ts"],
                globalSetup: fixtures("build-assets"),
              },
            },
          ]
        : []),
    ],
  },
});
