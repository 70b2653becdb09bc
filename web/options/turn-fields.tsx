import { type CropOption, FLIPS, type Flip, TURNS, type Turn } from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import type { AnyOptions } from "./choices.ts";
import { PositionField } from "./fit-fields.tsx";
import { parseSide } from "./size-fields.tsx";
import type { Form } from "./use-form.ts";

const TURN_WORDS = {
  90: "90° clockwise",
  180: "180°",
  270: "90° counterclockwise",
} as const satisfies Record<Turn, string>;

const FLIP_WORDS = {
  horizontal: "Left to right",
  vertical: "Top to bottom",
  both: "Both",
} as const satisfies Record<Flip, string>;

const RATIOS = ["16:9", "4:3", "3:2", "1:1", "4:5", "9:16"] as const satisfies readonly CropOption[];
const NONE = "none";
const OTHER = "other";

/** Which way up pictures are shown, and which part of them. */
export function TurnFields({ form }: { form: Form }) {
  const { options, change, faultAt } = form;
  const { rotate, flip, crop, position, fit, background } = options;
  const ratio = RATIOS.find((each) => each === crop);
  // The fit has a position of its own.
  const fitted = options.width !== undefined && options.height !== undefined;
  const placed = fitted && (fit ?? (background === undefined ? "fill" : "contain")) !== "fill";
  return (
    <>
      <div class="columns thirds">
        <Field label="Rotate" fault={faultAt("rotate")}>
          {(control) => (
            <select
              {...control}
              value={rotate ?? NONE}
              onChange={({ currentTarget }) =>
                change({ rotate: TURNS.find((turn) => String(turn) === currentTarget.value) })
              }
            >
              <option value={NONE}>No</option>
              {TURNS.map((turn) => (
                <option key={turn} value={turn}>
                  {TURN_WORDS[turn]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Mirror" fault={faultAt("flip")}>
          {(control) => (
            <select
              {...control}
              value={flip ?? NONE}
              onChange={({ currentTarget }) =>
                change({ flip: FLIPS.find((each) => each === currentTarget.value) })
              }
            >
              <option value={NONE}>No</option>
              {FLIPS.map((each) => (
                <option key={each} value={each}>
                  {FLIP_WORDS[each]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Crop" fault={faultAt("crop")}>
          {(control) => (
            <select
              {...control}
              value={ratio ?? (crop === undefined ? NONE : OTHER)}
              onChange={({ currentTarget: { value } }) =>
                change({
                  crop:
                    value === OTHER
                      ? { x: 0, y: 0, width: "100%", height: "100%" }
                      : RATIOS.find((each) => each === value),
                })
              }
            >
              <option value={NONE}>Whole picture</option>
              {RATIOS.map((each) => (
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
