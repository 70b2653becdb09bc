import { createPlan as create } from "../../src/media/create-plan.ts";
import { CheckedPlan } from "../../src/media/plan-schema.ts";

/** `createPlan`, which also checks that a container would accept the plan as it comes over the wire. */
export const createPlan: typeof create = (...request) => {
  const plan = create(...request);
  CheckedPlan.parse(JSON.parse(JSON.stringify(plan)));
  return plan;
};
