import { optionLabel } from "../../src/media/option-groups.ts";
import { Field } from "../ui/field.tsx";
import { codecName, languageName } from "../words/names.ts";
import type { Form } from "./use-form.ts";

/** Which sound track to take from a source that has several. */
export function TrackField({ form: { source, wishes, options, change, faultAt } }: { form: Form }) {
  const tracks = source.streams?.filter(({ kind }) => kind === "audio") ?? [];
  if (tracks.length < 2) return null;
  return (
    <Field label={optionLabel("track")} fault={faultAt("track")}>
      {(control) => (
        <select
          {...control}
          value={options.track ?? ""}
          onChange={({ currentTarget: { value } }) =>
            change({ track: value === "" ? undefined : Number(value) })
          }
        >
          <option value="">{wishes.kind === "adaptive_video" ? "All" : "The first"}</option>
          {tracks.map(({ index, language, codec }, track) => (
            <option key={index} value={track}>
              {track + 1} – {language ? languageName(language) : codecName(codec ?? "unknown")}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
