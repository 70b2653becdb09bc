import type { Source } from "../../src/index.ts";
import { geometry } from "../../src/media/features/geometry.ts";
import { Field } from "../ui/field.tsx";
import { checkedView } from "./checked-view.ts";
import type { AnyOptions } from "./choices.ts";
import type { Form } from "./use-form.ts";

const SIDES = [2160, 1440, 1080, 720, 480, 360] as const;
const SHARES = ["75%", "50%", "25%"] as const;
const OTHER = "other";

/** The size of the pictures: a common one, or width and height in pixels or percent. */
export function SizeFields({ form }: { form: Form }) {
  const { source, options, change, verdict } = form;
  const sizes = commonSizes(checkedView(source, options)?.shown ?? source);
  const chosen = sizes.find(({ size }) => size.width === options.width && size.height === options.height);
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
      <Field label="Size">
        {(control) => (
          <select
            {...control}
            value={chosen ? chosen.name : OTHER}
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
            {!chosen && <option value={OTHER}>Custom</option>}
          </select>
        )}
      </Field>
      {side("width")}
      {side("height")}
      <span class="hint">Pixels, or a percentage such as 50 %. Leave one side empty to keep the shape.</span>
    </div>
  );
}

// A single side keeps the aspect ratio, so there is nothing to fit.
const WHOLE = {
  width: undefined,
  height: undefined,
  fit: undefined,
  position: undefined,
  background: undefined,
};

type SizeOptions = Pick<AnyOptions, "width" | "height">;

// Never larger than the source.
function commonSizes({
  width = 0,
  height = 0,
}: Pick<Source, "width" | "height">): { name: string; words: string; size: SizeOptions }[] {
  const short = Math.min(width, height);
  const side = width < height ? "width" : "height";
  return [
    { name: "own", words: width ? `Keep original (${width} × ${height})` : "Keep original", size: {} },
    ...SIDES.filter((pixels) => pixels < short).map((pixels) => ({
      name: String(pixels),
      words: `${pixels}p`,
      size: { [side]: pixels },
    })),
    ...SHARES.map((share) => ({ name: share, words: share.replace("%", " %"), size: { width: share } })),
  ];
}

// Two sides may change the aspect ratio, and pictures should not be stretched unasked; a single one has nothing to fit.
function withSide(options: AnyOptions, name: "width" | "height", text: string): AnyOptions {
  const value = parseSide(text);
  const other = options[name === "width" ? "height" : "width"];
  if (value !== undefined && other !== undefined) return { [name]: value, fit: options.fit ?? "contain" };
  return { [name]: value, background: undefined, ...(options.fit === "contain" && { fit: undefined }) };
}

/** Parses a number of pixels or a percentage; undefined for nothing. */
export function parseSide(text: string): number | string | undefined {
  const plain = text.replaceAll(" ", "");
  if (plain === "") return undefined;
  return /^\d+$/.test(plain) ? Number(plain) : plain;
}
