import { type CropOption, FLIPS, type Flip, TURNS, type Turn } from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import { PositionField } from "./fit-fields.tsx";
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
export function TurnFields({ form: { options, change, faultAt } }: { form: Form }) {
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
              onChange={({ currentTarget }) =>
                change({ crop: RATIOS.find((each) => each === currentTarget.value) })
              }
            >
              <option value={NONE}>Whole picture</option>
              {RATIOS.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
              {crop !== undefined && ratio === undefined && <option value={OTHER}>Custom</option>}
            </select>
          )}
        </Field>
      </div>
      {crop !== undefined && !placed && (
        <PositionField value={position ?? "center"} onChange={(position) => change({ position })} />
      )}
    </>
  );
}
