import { geometry } from "../../src/media/features/geometry.ts";
import { Field } from "../ui/field.tsx";
import type { AnyOptions } from "./choices.ts";
import { PositionField } from "./fit-fields.tsx";
import { OptionField } from "./option-field.tsx";
import { parseSide } from "./size-fields.tsx";
import type { Form } from "./use-form.ts";

const { choices: RATIOS = [], words: CROP } = geometry.options.crop;
const NONE = "none";
const OTHER = "other";

/** Which way up pictures are shown, and which part of them. */
export function TurnFields({ form }: { form: Form }) {
  const { options, change, faultAt } = form;
  const { crop, position, fit, background } = options;
  const ratio = RATIOS.find((each) => each === crop);
  // The fit has a position of its own.
  const fitted = options.width !== undefined && options.height !== undefined;
  const placed = fitted && (fit ?? (background === undefined ? "fill" : "contain")) !== "fill";
  return (
    <>
      <div class="columns thirds">
        <OptionField form={form} name="rotate" />
        <OptionField form={form} name="flip" />
        <Field label={CROP.label} fault={faultAt("crop")}>
          {(control) => (
            <select
              {...control}
              value={typeof ratio === "string" ? ratio : crop === undefined ? NONE : OTHER}
              onChange={({ currentTarget: { value } }) =>
                change({
                  crop:
                    value === OTHER
                      ? { x: 0, y: 0, width: "100%", height: "100%" }
                      : RATIOS.find((each) => each === value),
                })
              }
            >
              <option value={NONE}>{CROP.choice?.(undefined)}</option>
              {RATIOS.map(String).map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
              <option value={OTHER}>Custom</option>
            </select>
          )}
        </Field>
      </div>
      {typeof crop === "object" && <Rectangle crop={crop} form={form} />}
      {typeof crop === "string" && !placed && (
        <PositionField value={position ?? "center"} onChange={(position) => change({ position })} />
      )}
    </>
  );
}

const EDGES = {
  x: "Crop from the left",
  y: "Crop from the top",
  width: "Crop width",
  height: "Crop height",
} as const;

type Edge = keyof typeof EDGES;

/** The part to keep, in pixels or percentages of what is shown. */
function Rectangle({
  crop,
  form: { change },
}: {
  crop: Exclude<AnyOptions["crop"], string | undefined>;
  form: Form;
}) {
  return (
    <div class="columns quarters">
      {(Object.keys(EDGES) as Edge[]).map((edge) => (
        <Field key={edge} label={EDGES[edge]}>
          {(control) => (
            <input
              {...control}
              autocomplete="off"
              value={crop[edge] ?? ""}
              onInput={({ currentTarget }) =>
                change({ crop: { ...crop, [edge]: parseSide(currentTarget.value) } })
              }
            />
          )}
        </Field>
      ))}
      <span class="hint">Pixels, or percentages such as 50 %.</span>
    </div>
  );
}
