import type { Source } from "../core/source.ts";
import type { Plan } from "../plan/plan.ts";
import type { LightLimits } from "./light-limits.ts";
export function refuse(_plan: Plan, _source: Source, _limits: LightLimits): string | null {
  return null;
}
