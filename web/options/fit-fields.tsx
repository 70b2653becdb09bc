import { useId } from "preact/hooks";
import { FITS, type Fit, POSITIONS, type Position } from "../../src/index.ts";
import { geometry, POSITION_NAMES } from "../../src/media/features/geometry.ts";
import { Field } from "../ui/field.tsx";
import { Segments } from "../ui/segments.tsx";
import type { Form } from "./use-form.ts";

const { fit: FIT, position: POSITION, background: BACKGROUND } = geometry.options;

// In reading order, from top left to bottom right.
const GRID = [
  ["top-left", "top", "top-right"],
  ["left", "center", "right"],
  ["bottom-left", "bottom", "bottom-right"],
].flat() as readonly Position[];

/** How pictures fill a size of another aspect ratio: fit, position and background. */
export function FitFields({ form }: { form: Form }) {
  const { options, change, faultAt } = form;
  const both = options.width !== undefined && options.height !== undefined;
  const fit = options.fit ?? (options.background === undefined ? "fill" : "contain");
  // A single side keeps the aspect ratio, so there is nothing to choose.
  if (!both && options.fit === undefined) return null;
  return (
    <>
      <Segments<Fit>
        label={FIT.words.label}
        choices={FITS.map((value) => ({ value, label: FIT.words.choice?.(value) ?? value }))}
        value={fit}
        onChange={(fit) => change({ fit, ...(fit !== "contain" && { background: undefined }) })}
        hint={FIT.words.hint?.(fit)}
        fault={faultAt("fit")}
      />
      {both && fit !== "fill" && (
        <div class="columns">
          <PositionField value={options.position ?? "center"} onChange={(position) => change({ position })} />
          {fit === "contain" && <BackgroundField form={form} />}
        </div>
      )}
    </>
  );
}

/** Where the picture sits in its frame, or which part of it is kept. */
export function PositionField({
  value,
  onChange,
}: {
  value: Position;
  onChange: (position: Position) => void;
}) {
  const id = useId();
  return (
    <fieldset class="field position">
      <legend class="label">{POSITION.words.label}</legend>
      <div>
        {GRID.filter((position) => POSITIONS.includes(position)).map((position) => (
          <input
            key={position}
            type="radio"
            name={id}
            aria-label={POSITION_NAMES[position]}
            title={POSITION_NAMES[position]}
            checked={position === value}
            onChange={() => onChange(position)}
          />
        ))}
      </div>
      <span class="hint">{POSITION_NAMES[value]}</span>
    </fieldset>
  );
}

function BackgroundField({ form: { options, change, faultAt } }: { form: Form }) {
  const { background } = options;
  return (
    <Field
      label={BACKGROUND.words.label}
      hint={BACKGROUND.words.hint?.(background)}
      fault={faultAt("background")}
    >
      {(control) => (
        <span class="color">
          <input
            type="color"
            aria-label="Choose the background"
            value={toSixDigits(background)}
            onInput={({ currentTarget }) => change({ background: currentTarget.value })}
          />
          <input
            {...control}
            autocomplete="off"
            spellcheck={false}
            placeholder={BACKGROUND.words.empty}
            value={background ?? ""}
            onInput={({ currentTarget }) => change({ background: currentTarget.value.trim() || undefined })}
          />
        </span>
      )}
    </Field>
  );
}

// The browser's color input accepts no other form.
function toSixDigits(color = "#000000"): string {
  const digits = color.replace("#", "");
  const six =
    digits.length < 6 ? [...digits.slice(0, 3)].map((digit) => digit + digit).join("") : digits.slice(0, 6);
  return /^[0-9a-f]{6}$/i.test(six) ? `#${six}` : "#000000";
}
