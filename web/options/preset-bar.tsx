import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Settings } from "../queue/item.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { type AnyOptions, kindsFor } from "./choices.ts";
import type { Form } from "./form.tsx";
import { fromPreset, isName, PRESET_BOUNDS, PRESETS, type Preset, parsePresets } from "./presets.ts";
import * as strings from "./strings.ts";

const PRESETS_KEY = "framewright-presets";

const presets = signal<readonly Preset[]>(read());
addEventListener("storage", ({ key }) => {
  if (key === null || key === PRESETS_KEY) presets.value = read();
});

/** The visitor's own presets, oldest first. */
export const ownPresets: ReadonlySignal<readonly Preset[]> = presets;

/** Saves options without the trim under a name, replacing a preset of that name; returns the id. */
function savePreset(name: string, { kind, options, target_size }: Settings): string {
  const { start: _start, end: _end, ...rest } = options as AnyOptions;
  const preset: Preset = { id: crypto.randomUUID(), name, purpose: "", kind, options: rest, target_size };
  write([...read().filter((other) => other.name !== name), preset]);
  return preset.id;
}

function renamePreset(id: string, name: string): void {
  write(read().map((preset) => (preset.id === id ? { ...preset, name } : preset)));
}

function deletePreset(id: string): void {
  write(read().filter((preset) => preset.id !== id));
}

function read(): Preset[] {
  try {
    return parsePresets(localStorage.getItem(PRESETS_KEY));
  } catch {
    return [];
  }
}

function write(all: readonly Preset[]): void {
  presets.value = all.slice(-PRESET_BOUNDS.count);
  try {
    const rows = presets.value.map(({ id, name, kind, options, target_size }) => ({
      id,
      name,
      kind,
      options,
      target_size,
    }));
    localStorage.setItem(PRESETS_KEY, JSON.stringify(rows));
  } catch {}
}

/** The presets that fit a file: the built-in ones, then the visitor's own, with a way to save another. */
export function PresetBar({ form }: { form: Form }) {
  const { source, settings, update } = form;
  const [isManaging, setManaging] = useState(false);
  const kinds = kindsFor(source);
  const own = ownPresets.value;
  const fitting = [...PRESETS, ...own].filter(({ kind }) => kinds.includes(kind));
  return (
    <div class="presets">
      <h2>{strings.presets}</h2>
      <ul class="plain">
        {fitting.map((preset: Preset) => (
          <li key={preset.id}>
            <button
              type="button"
              aria-pressed={settings.preset === preset.id}
              onClick={() => update((now) => fromPreset(preset, now, source))}
            >
              <strong>{preset.name}</strong>
              <span class="soft small">{preset.purpose || strings.yourOwn}</span>
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        <SavePreset form={form} />
        {own.length > 0 && (
          <button type="button" class="quiet" onClick={() => setManaging(true)}>
            <Icon name="options" />
            {strings.manageYourPresets}
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
    <Dialog title={strings.yourPresets} onClose={onClose}>
      {own.length === 0 && <p class="soft">{strings.noPresetsLeft}</p>}
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
    const newName = typed.trim();
    if (isName(newName)) renamePreset(id, newName);
    setTyped(isName(newName) ? newName : name);
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
          aria-label={strings.nameOf({ name })}
          autocomplete="off"
          maxLength={PRESET_BOUNDS.name}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          onBlur={rename}
        />
      </form>
      <span class="soft small">{strings.kinds[kind]}</span>
      <button
        type="button"
        class="quiet icon"
        aria-label={strings.deletePreset({ name })}
        onClick={() => deletePreset(id)}
      >
        <Icon name="remove" />
      </button>
    </li>
  );
}

function SavePreset({ form: { settings, verdict, update } }: { form: Form }) {
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
        {strings.saveAsPreset}
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
        if (verdict.fault) setFault(strings.fixFirst({ message: verdict.fault.message }));
        else if (!isName(plain)) setFault(strings.enterName);
        else {
          const preset = savePreset(plain, settings);
          update((now) => ({ ...now, preset }));
          close();
        }
      }}
      onKeyDown={({ key }) => {
        if (key === "Escape") close();
      }}
    >
      <Field label={strings.presetName} fault={fault}>
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
      <button type="submit">{strings.save}</button>
      <button type="button" class="quiet" onClick={close}>
        {strings.cancel}
      </button>
    </form>
  );
}
