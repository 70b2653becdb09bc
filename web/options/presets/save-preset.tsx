import { useEffect, useRef, useState } from "preact/hooks";
import { Field } from "../../ui/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { Form } from "../use-form.ts";
import { savePreset } from "./own-presets.ts";
import { isName, PRESET_BOUNDS } from "./parse-presets.ts";

export function SavePreset({ form: { wishes, verdict, wish } }: { form: Form }) {
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
