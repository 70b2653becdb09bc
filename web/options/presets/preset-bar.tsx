import { useState } from "preact/hooks";
import { Icon } from "../../ui/icon.tsx";
import { kindsFor } from "../choices.ts";
import type { Form } from "../use-form.ts";
import { ownPresets } from "./own-presets.ts";
import { PresetDialog } from "./preset-dialog.tsx";
import { fromPreset, PRESETS, type Preset } from "./presets.ts";
import { SavePreset } from "./save-preset.tsx";

/** The presets that fit a file: the built-in ones, then the visitor's own, with a way to save another. */
export function PresetBar({ form }: { form: Form }) {
  const { source, wishes, wish } = form;
  const [isManaging, setManaging] = useState(false);
  const kinds = kindsFor(source);
  const own = ownPresets.value;
  const fitting = [...PRESETS, ...own].filter(({ kind }) => kinds.includes(kind));
  return (
    <div class="presets">
      <h3>Presets</h3>
      <ul class="plain">
        {fitting.map((preset: Preset) => (
          <li key={preset.id}>
            <button
              type="button"
              aria-pressed={wishes.preset === preset.id}
              onClick={() => wish((now) => fromPreset(preset, now, source))}
            >
              <strong>{preset.name}</strong>
              <span class="soft small">{preset.purpose || "Your own"}</span>
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        <SavePreset form={form} />
        {own.length > 0 && (
          <button type="button" class="quiet" onClick={() => setManaging(true)}>
            <Icon name="options" />
            Manage your presets
          </button>
        )}
      </div>
      {isManaging && <PresetDialog onClose={() => setManaging(false)} />}
    </div>
  );
}
