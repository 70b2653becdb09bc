import { type ReadonlySignal, signal } from "@preact/signals";
import type { Wishes } from "../queue/item.ts";
import type { AnyOptions } from "./choices.ts";
import { PRESET_BOUNDS, type Preset, parsePresets } from "./presets.ts";

// Key in the browser's localStorage.
const PRESETS_KEY = "framewright-presets";

const presets = signal<readonly Preset[]>(read());
// Another tab may change them.
addEventListener("storage", ({ key }) => {
  if (key === null || key === PRESETS_KEY) presets.value = read();
});

/** The visitor's own presets, oldest first. */
export const ownPresets: ReadonlySignal<readonly Preset[]> = presets;

/** Saves options without the trim under a name, replacing a preset of that name; returns the id. */
export function savePreset(name: string, { kind, options, target_size }: Wishes): string {
  const { start: _start, end: _end, ...rest } = options as AnyOptions;
  const preset: Preset = { id: crypto.randomUUID(), name, purpose: "", kind, options: rest, target_size };
  write([...read().filter((other) => other.name !== name), preset]);
  return preset.id;
}

export function renamePreset(id: string, name: string): void {
  write(read().map((preset) => (preset.id === id ? { ...preset, name } : preset)));
}

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
    const kept = presets.value.map(({ id, name, kind, options, target_size }) => ({
      id,
      name,
      kind,
      options,
      target_size,
    }));
    localStorage.setItem(PRESETS_KEY, JSON.stringify(kept));
  } catch {
    // They last as long as the page is open.
  }
}
