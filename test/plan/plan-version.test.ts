import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLAN_VERSION } from "../../src/media/plan.ts";
import { CheckedPlan } from "../../src/media/plan-schema.ts";

// Where this fails, a field of the plan has changed or gone: raise PLAN_VERSION, and store plans of the new version.
test("plans that were stored under the current version still parse", async () => {
  const path = join(import.meta.dirname, `plans-${PLAN_VERSION}.json`);
  const plans: Record<string, unknown> = JSON.parse(await readFile(path, "utf8"));
  for (const [kind, plan] of Object.entries(plans)) expect(CheckedPlan.parse(plan), kind).toEqual(plan);
});
