import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { kindsFor } from "./choices.ts";
import { deletePreset, ownPresets, renamePreset, savePreset } from "./own-presets.ts";
import { fromPreset, isName, PRESET_BOUNDS, PRESETS, type Preset } from "./presets.ts";
import type { Form } from "./use-form.ts";
import { KIND_WORDS } from "./words.ts";

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

function PresetDialog({ onClose }: { onClose: () => void }) {
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

function SavePreset({ form: { wishes, verdict, wish } }: { form: Form }) {
  const [name, setName] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const isOpen = name !== null;
  const wasOpen = useRef(false);
  const opener = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isOpen) field.current?.focus();
    else if (wasOpen.current) opener.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (name === null) {
    return (
      <button ref={opener} type="button" class="quiet" onClick={() => setName("")}>
        <Icon name="add" />
        Save as preset
      </button>
    );
  }
  const close = () => {
    setName(null);
    setFault(null);
  };
  return (
    <form
      class="save"
      onSubmit={(event) => {
        event.preventDefault();
        const plain = name.trim();
        if (verdict.fault) setFault(`Fix this first: ${verdict.fault.message}`);
        else if (!isName(plain)) setFault("Enter a name.");
        else {
          const preset = savePreset(plain, wishes);
          wish((now) => ({ ...now, preset }));
          close();
        }
      }}
      onKeyDown={({ key }) => {
        if (key === "Escape") close();
      }}
    >
      <Field label="Name of the preset" fault={fault}>
        {(control) => (
          <input
            {...control}
            ref={field}
            autocomplete="off"
            maxLength={PRESET_BOUNDS.name}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit">Save</button>
      <button type="button" class="quiet" onClick={close}>
        Cancel
      </button>
    </form>
  );
}
