import { useId } from "preact/hooks";
import { FITS, type Fit, POSITIONS, type Position, type Source } from "../../src/index.ts";
import { geometry, POSITION_NAMES } from "../../src/media/features/geometry.ts";
import { Field } from "../ui/field.tsx";
import { Segments } from "../ui/segments.tsx";
import type { AnyOptions } from "./choices.ts";
import { type Form, OptionField } from "./form.tsx";
import { checkedView } from "./preview.tsx";
import * as strings from "./strings.ts";

const SIDES = [2160, 1440, 1080, 720, 480, 360] as const;
const SHARES = ["75%", "50%", "25%"] as const;
const OTHER = "other";

/** The size of the pictures: a common one, or width and height in pixels or percent. */
export function SizeFields({ form }: { form: Form }) {
  const { source, options, change, verdict } = form;
  const sizes = commonSizes(checkedView(source, options)?.displaySize ?? source);
  const preset = sizes.find(({ size }) => size.width === options.width && size.height === options.height);
  const side = (name: "width" | "height") => (
    <Field label={geometry.options[name].words.label} fault={form.faultAt(name)}>
      {(control) => (
        <input
          {...control}
          autocomplete="off"
          placeholder={verdict.forecast?.[name] == null ? "" : String(verdict.forecast[name])}
          value={options[name] ?? ""}
          onInput={({ currentTarget }) => change(withSide(options, name, currentTarget.value))}
        />
      )}
    </Field>
  );
  return (
    <div class="columns thirds">
      <Field label={strings.size}>
        {(control) => (
          <select
            {...control}
            value={preset ? preset.name : OTHER}
            onChange={({ currentTarget }) => {
              const size = sizes.find(({ name }) => name === currentTarget.value)?.size;
              if (size) change({ ...WHOLE, ...size });
            }}
          >
            {sizes.map(({ name, words }) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
            {!preset && <option value={OTHER}>{strings.custom}</option>}
          </select>
        )}
      </Field>
      {side("width")}
      {side("height")}
      <span class="hint">{strings.sizeHint}</span>
    </div>
  );
}

const WHOLE = {
  width: undefined,
  height: undefined,
  fit: undefined,
  position: undefined,
  background: undefined,
};

type SizeOptions = Pick<AnyOptions, "width" | "height">;

function commonSizes({
  width = 0,
  height = 0,
}: Pick<Source, "width" | "height">): { name: string; words: string; size: SizeOptions }[] {
  const short = Math.min(width, height);
  const side = width < height ? "width" : "height";
  return [
    {
      name: "own",
      words: width ? strings.keepOriginalSize({ width, height }) : strings.keepOriginal,
      size: {},
    },
    ...SIDES.filter((pixels) => pixels < short).map((pixels) => ({
      name: String(pixels),
      words: `${pixels}p`,
      size: { [side]: pixels },
    })),
    ...SHARES.map((share) => ({ name: share, words: share.replace("%", " %"), size: { width: share } })),
  ];
}

// `fill` would stretch the picture when both sides are set, so the form defaults to `contain`.
function withSide(options: AnyOptions, name: "width" | "height", text: string): AnyOptions {
  const value = parseSide(text);
  const other = options[name === "width" ? "height" : "width"];
  if (value !== undefined && other !== undefined) return { [name]: value, fit: options.fit ?? "contain" };
  return { [name]: value, background: undefined, ...(options.fit === "contain" && { fit: undefined }) };
}

function parseSide(text: string): number | string | undefined {
  const plain = text.replaceAll(" ", "");
  if (plain === "") return undefined;
  return /^\d+$/.test(plain) ? Number(plain) : plain;
}

const { choices: RATIOS = [], words: CROP } = geometry.options.crop;
const NONE = "none";
const OTHER_RATIO = "other";

/** Which way up pictures are shown, and which part of them. */
export function TurnFields({ form }: { form: Form }) {
  const { options, change, faultAt } = form;
  const { crop, position, fit, background } = options;
  const ratio = RATIOS.find((each) => each === crop);
  const fitted = options.width !== undefined && options.height !== undefined;
  const fitHasPosition = fitted && (fit ?? (background === undefined ? "fill" : "contain")) !== "fill";
  return (
    <>
      <div class="columns thirds">
        <OptionField form={form} name="rotate" />
        <OptionField form={form} name="flip" />
        <Field label={CROP.label} fault={faultAt("crop")}>
          {(control) => (
            <select
              {...control}
              value={typeof ratio === "string" ? ratio : crop === undefined ? NONE : OTHER_RATIO}
              onChange={({ currentTarget: { value } }) =>
                change({
                  crop:
                    value === OTHER_RATIO
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
              <option value={OTHER_RATIO}>{strings.custom}</option>
            </select>
          )}
        </Field>
      </div>
      {typeof crop === "object" && <Rectangle crop={crop} form={form} />}
      {typeof crop === "string" && !fitHasPosition && (
        <PositionField value={position ?? "center"} onChange={(position) => change({ position })} />
      )}
    </>
  );
}

const EDGES = {
  x: strings.cropX,
  y: strings.cropY,
  width: strings.cropWidth,
  height: strings.cropHeight,
} as const;

type Edge = keyof typeof EDGES;

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
      <span class="hint">{strings.cropHint}</span>
    </div>
  );
}

const { fit: FIT, position: POSITION, background: BACKGROUND } = geometry.options;

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

function PositionField({ value, onChange }: { value: Position; onChange: (position: Position) => void }) {
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
            aria-label={strings.chooseBackground}
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

// Color inputs accept no other form.
function toSixDigits(color = "#000000"): string {
  const digits = color.replace("#", "");
  const six =
    digits.length < 6 ? [...digits.slice(0, 3)].map((digit) => digit + digit).join("") : digits.slice(0, 6);
  return /^[0-9a-f]{6}$/i.test(six) ? `#${six}` : "#000000";
}
