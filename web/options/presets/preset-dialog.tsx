import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { KIND_WORDS } from "../words.ts";
import { deletePreset, ownPresets, renamePreset } from "./own-presets.ts";
import { isName, PRESET_BOUNDS } from "./parse-presets.ts";
import type { Preset } from "./presets.ts";

export function PresetDialog({ onClose }: { onClose: () => void }) {
  const own = ownPresets.value;
  return (
    <Dialog title="Your presets" onClose={onClose}>
      {own.length === 0 && <p class="soft">There are none left.</p>}
      <ul class="plain own-presets">
        {own.map((preset) => (
          <OwnPreset key={preset.id} preset={preset} />
        ))}
      </ul>
    </Dialog>
  );
}

function OwnPreset({ preset: { id, name, kind } }: { preset: Preset }) {
  const [typed, setTyped] = useState(name);
  const rename = () => {
    const wanted = typed.trim();
    if (isName(wanted)) renamePreset(id, wanted);
    setTyped(isName(wanted) ? wanted : name);
  };
  return (
    <li>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rename();
        }}
      >
        <input
          aria-label={`Name of ${name}`}
          autocomplete="off"
          maxLength={PRESET_BOUNDS.name}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          onBlur={rename}
        />
      </form>
      <span class="soft small">{KIND_WORDS[kind]}</span>
      <button type="button" class="quiet icon" aria-label={`Delete ${name}`} onClick={() => deletePreset(id)}>
        <Icon name="remove" />
      </button>
    </li>
  );
}
