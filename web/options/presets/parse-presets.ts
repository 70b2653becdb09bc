import { ENCODE_KINDS, type EncodeKind, parseTaskRequest } from "../../../src/index.ts";
import type { Preset } from "./presets.ts";

/** Most presets to keep, and the longest name. */
export const PRESET_BOUNDS = { count: 50, name: 60 } as const;

/** Parses stored presets; drops malformed ones and those whose options this version does not have. */
export function parsePresets(text: string | null): Preset[] {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
  if (!Array.isArray(kept)) return [];
  return kept.slice(-PRESET_BOUNDS.count).flatMap((value) => parsePreset(value) ?? []);
}

function parsePreset(value: unknown): Preset | null {
  const { id, name, kind, options, target_size = null } = Object(value);
  if (typeof id !== "string" || typeof name !== "string" || !isName(name) || id.length > 100) return null;
  if (!ENCODE_KINDS.includes(kind as EncodeKind)) return null;
  if (target_size !== null && !(typeof target_size === "number" && target_size > 0)) return null;
  try {
    const parsed = parseTaskRequest({ input: "https://example.com/", kind, options });
    return { id, name, purpose: "", kind: parsed.kind, options: parsed.options, target_size };
  } catch {
    return null;
  }
}

export function isName(name: string): boolean {
  return name.trim() !== "" && name.length <= PRESET_BOUNDS.name;
}
