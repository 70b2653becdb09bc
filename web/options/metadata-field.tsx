import type { MetadataMode } from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import type { Form } from "./use-form.ts";
import { METADATA_WORDS } from "./words.ts";

const MODES = ["clean", "keep", "strip"] as const;

export function MetadataField({ form: { options, change, faultAt } }: { form: Form }) {
  const mode = options.metadata ?? "clean";
  return (
    <Field label="Tags and cover" hint={METADATA_WORDS[mode][1]} fault={faultAt("metadata")}>
      {(control) => (
        <select
          {...control}
          value={mode}
          onChange={({ currentTarget }) => {
            const chosen = currentTarget.value as MetadataMode;
            change({ metadata: chosen === "clean" ? undefined : chosen });
          }}
        >
          {MODES.map((each) => (
            <option key={each} value={each}>
              {METADATA_WORDS[each][0]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
