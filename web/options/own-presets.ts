import { type ReadonlySignal, signal } from "@preact/signals";
import { ENCODE_KINDS, type EncodeKind, parseTaskRequest } from "../../src/index.ts";
import type { Wishes } from "../queue/item.ts";
import type { AnyOptions } from "./choices.ts";
import type { Preset } from "./presets.ts";

/** Key under which the visitor's presets are kept in this browser. */
export const PRESETS_KEY = "framewright-presets";

/** How many presets are kept, and how long a name may be. */
export const PRESET_BOUNDS = { count: 50, name: 60 } as const;

const presets = signal<readonly Preset[]>(read());
// Another tab may change them.
addEventListener("storage", ({ key }) => {
  if (key === null || key === PRESETS_KEY) presets.value = read();
});

/** The visitor's own presets, the oldest first. */
export const ownPresets: ReadonlySignal<readonly Preset[]> = presets;

/** Keeps wishes under a name, without the times of a trim; gives the id. Another preset of that name gives way. */
export function savePreset(name: string, { kind, options, target_bytes }: Wishes): string {
  const { start: _start, end: _end, ...rest } = options as AnyOptions;
  const preset: Preset = { id: crypto.randomUUID(), name, purpose: "", kind, options: rest, target_bytes };
  write([...read().filter((other) => other.name !== name), preset]);
  return preset.id;
}

/** Gives a preset another name. */
export function renamePreset(id: string, name: string): void {
  write(read().map((preset) => (preset.id === id ? { ...preset, name } : preset)));
}

/** Forgets a preset. */
export function deletePreset(id: string): void {
  write(read().filter((preset) => preset.id !== id));
}

function read(): Preset[] {
  try {
    return parsePresets(localStorage.getItem(PRESETS_KEY));
  } catch {
    // Storage may be forbidden.
    return [];
  }
}

function write(all: readonly Preset[]): void {
  presets.value = all.slice(-PRESET_BOUNDS.count);
  try {
    const kept = presets.value.map(({ id, name, kind, options, target_bytes }) => ({
      id,
      name,
      kind,
      options,
      target_bytes,
    }));
    localStorage.setItem(PRESETS_KEY, JSON.stringify(kept));
  } catch {
    // They are there as long as the page is open.
  }
}

/** Parses presets as they were kept; what is none, or not of this version's options, is left out. */
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
  const { id, name, kind, options, target_bytes = null } = Object(value);
  if (typeof id !== "string" || typeof name !== "string" || !isName(name) || id.length > 100) return null;
  if (!ENCODE_KINDS.includes(kind as EncodeKind)) return null;
  if (target_bytes !== null && !(typeof target_bytes === "number" && target_bytes > 0)) return null;
  try {
    const parsed = parseTaskRequest({ input: "https://example.com/", kind, options });
    return { id, name, purpose: "", kind: parsed.kind, options: parsed.options, target_bytes };
  } catch {
    return null;
  }
}

/** Tells whether a preset can have a name: there is one, and it is not too long. */
export function isName(name: string): boolean {
  return name.trim() !== "" && name.length <= PRESET_BOUNDS.name;
}
