import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { deletePreset, isName, ownPresets, PRESET_BOUNDS, renamePreset } from "./own-presets.ts";
import { KIND_WORDS } from "./words.ts";

/** The visitor's own presets, to be renamed and deleted. */
export function PresetDialog({ onClose }: { onClose: () => void }) {
  const own = ownPresets.value;
  return (
    <Dialog title="Your presets" onClose={onClose}>
      {own.length === 0 && <p class="soft">There are none any more.</p>}
      <ul class="plain own-presets">
        {own.map(({ id, name, kind }) => (
          <li key={id}>
            <input
              aria-label={`Name of ${name}`}
              autocomplete="off"
              maxLength={PRESET_BOUNDS.name}
              value={name}
              onChange={({ currentTarget }) => {
                const wanted = currentTarget.value.trim();
                if (isName(wanted)) renamePreset(id, wanted);
                else currentTarget.value = name;
              }}
            />
            <span class="soft small">{KIND_WORDS[kind]}</span>
            <button
              type="button"
              class="quiet icon"
              aria-label={`Delete ${name}`}
              onClick={() => deletePreset(id)}
            >
              <Icon name="remove" />
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
