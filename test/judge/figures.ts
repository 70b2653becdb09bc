declare module "vitest" {
  interface TaskMeta {
    /** Measurements for the JSON report of a run. */
    figures?: Record<string, unknown>;
  }
}

/** Attaches figures to a test, so that `vitest run --reporter=json` reports them. */
export function note(
  task: { meta: { figures?: Record<string, unknown> } },
  figures: Record<string, unknown>,
): void {
  task.meta.figures = { ...task.meta.figures, ...figures };
}
