declare module "vitest" {
  interface TaskMeta {
    /** What was measured, for a JSON report of the run. */
    figures?: Record<string, unknown>;
  }
}

/** Keeps figures with a test, so that `vitest run --reporter=json` tells them. */
export function note(
  task: { meta: { figures?: Record<string, unknown> } },
  figures: Record<string, unknown>,
): void {
  task.meta.figures = { ...task.meta.figures, ...figures };
}
