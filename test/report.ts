import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import type { TestCase, TestResult } from "@playwright/test/reporter";
import type { Reporter, TestModule } from "vitest/node";
import { ROOT } from "../worker/local/settings.ts";

/** One finished attempt of a test. */
export interface Attempt {
  /** Id of the test, the same in every run. */
  id: string;
  file: string;
  name: string;
  state: "passed" | "failed" | "skipped";
  ms: number;
  error: string | null;
}

/**
 * A reporter for Vitest and for Playwright that appends each {@link Attempt} to the file of TEST_REPORT as a line of JSON, so that a
 * killed run has reported the tests that it finished.
 */
export default class Report implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    const file = module.relativeModuleId;
    const add = (id: string, name: string, state: Attempt["state"], ms: number, error?: string) =>
      append({ id, file, name, state, ms, error: error ?? null });
    for (const test of module.children.allTests()) {
      const result = test.result();
      const state = result.state === "pending" ? "skipped" : result.state;
      const ms = test.diagnostic()?.duration ?? 0;
      const [error] = result.errors ?? [];
      if (state === "passed" && error) add(test.id, test.fullName, "failed", 0, error.message);
      add(test.id, test.fullName, state, ms, result.errors?.at(-1)?.message);
    }
    for (const suite of [module, ...module.children.allSuites()]) {
      const [error] = suite.errors();
      const name = suite.type === "module" ? "the file" : suite.fullName;
      if (error) add(suite.id, name, "failed", 0, error.message);
    }
  }

  onTestEnd(test: TestCase, { status, duration, error }: TestResult): void {
    append({
      id: test.id,
      file: relative(ROOT, test.location.file),
      name: test.titlePath().slice(3).join(" > "),
      state: status === "passed" || status === "skipped" ? status : "failed",
      ms: duration,
      error: error?.message ?? null,
    });
  }
}

function append(attempt: Attempt): void {
  appendFileSync(process.env.TEST_REPORT ?? "dist/test-report.jsonl", `${JSON.stringify(attempt)}\n`);
}
