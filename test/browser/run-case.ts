import type { Cases } from "./cases.ts";

/** Runs one case of a module; returns its error as text, or null. */
export async function runCase(module: string, name: string): Promise<string | null> {
  try {
    const { CASES }: { CASES: Cases } = await import(/* @vite-ignore */ module);
    const check = CASES[name];
    if (!check) return `${module} has no case "${name}".`;
    await check();
    return null;
  } catch (thrown) {
    // The stack does not include the kind of a MediaError.
    const kind = Reflect.get(Object(thrown), "kind");
    return `${kind ? `${kind}: ` : ""}${thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown}`;
  }
}
