import { z } from "zod";
import { engineFeatures, type FeatureName, neededFeatures } from "../../media/features.ts";
import { NATIVE_TOOLS, type Toolset } from "../../media/ffmpeg/toolset.ts";
import { type Plan, plannedOf } from "../../media/plan.ts";
import { callNative, type NativeInstance, parseJson } from "./native-job.ts";

/** Features of the native encoders, as their `GET /health` lists them. An encoder that has not answered counts as capable. */
export interface NativeFeatures {
  /** Queries the encoders in turn until one has all features of a plan; none for a plan without features. Never rejects. */
  prepare(plan: Plan): Promise<void>;
  /** Queries one encoder; returns whether it has all features of a plan. Never rejects. */
  ask(instance: NativeInstance, plan: Plan, signal?: AbortSignal): Promise<boolean>;
  /** Returns the tools for a plan: all of them, or only those of the first encoder when none has all features. */
  tools(plan: Plan): Toolset;
}

const VALID_MS = 60_000;

const Health = z.object({ features: z.array(z.string()) });

/** Creates {@link NativeFeatures}; an encoder must answer within `ms` milliseconds. */
export function createNativeFeatures(instances: readonly NativeInstance[], ms: number): NativeFeatures {
  const answers = new Map<NativeInstance, { features: ReadonlySet<string>; until: number }>();

  function lacksOf(instance: NativeInstance): FeatureName[] {
    const answer = answers.get(instance);
    return answer ? engineFeatures("native").filter((name) => !answer.features.has(name)) : [];
  }

  function isAble(instance: NativeInstance, plan: Plan): boolean {
    const lacks = lacksOf(instance);
    return !neededFeatures(plannedOf(plan)).some((name) => lacks.includes(name));
  }

  async function ask(instance: NativeInstance, plan: Plan, signal?: AbortSignal): Promise<boolean> {
    if (neededFeatures(plannedOf(plan)).length === 0) return true;
    if ((answers.get(instance)?.until ?? 0) < Date.now()) {
      answers.delete(instance);
      const answer = await callNative(instance, "/health", {}, { ms, signal }).catch(() => null);
      const { data } = Health.safeParse(parseJson(answer?.text ?? ""));
      if (data) answers.set(instance, { features: new Set(data.features), until: Date.now() + VALID_MS });
    }
    return isAble(instance, plan);
  }

  return {
    ask,
    async prepare(plan) {
      for (const instance of instances) if (await ask(instance, plan)) return;
    },
    tools(plan) {
      const [first] = instances;
      const lacks = first && !instances.some((each) => isAble(each, plan)) ? lacksOf(first) : [];
      return { ...NATIVE_TOOLS, lacks };
    },
  };
}
