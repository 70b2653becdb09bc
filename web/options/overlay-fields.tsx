import { POSITIONS } from "../../src/index.ts";
import { POSITION_NAMES } from "../../src/media/features/geometry.ts";
import { OVERLAY_LABELS as LABELS } from "../../src/media/features/overlay.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import type { AnyOptions } from "./choices.ts";
import type { Form } from "./use-form.ts";

const WIDTHS = ["10%", "20%", "30%", "50%", "100%"] as const;
const OPACITIES = [1, 0.75, 0.5, 0.25] as const;
const OWN = "";

/** A picture to lay over a video or an image: its address, where and when it is shown, how large and how clearly. */
export function OverlayFields({ form: { wishes, options, change, faultAt } }: { form: Form }) {
  const { overlay } = options;
  const { opacity = 1 } = overlay ?? {};
  const set = (changes: Partial<NonNullable<AnyOptions["overlay"]>>) =>
    overlay && change({ overlay: withoutUndefined({ ...overlay, ...changes }) });
  const named = typeof overlay?.position === "object" ? null : (overlay?.position ?? "center");
  const widths = [...new Set([...WIDTHS, ...(overlay?.width === undefined ? [] : [overlay.width])])];
  return (
    <>
      <Field
        label={LABELS.url}
        hint={overlay && "The address of a picture, whose server must let this page read it."}
        fault={faultAt("overlay.url")}
      >
        {(control) => (
          <input
            {...control}
            type="url"
            autocomplete="off"
            placeholder="https://…/logo.png"
            value={overlay?.url ?? ""}
            onInput={({ currentTarget: { value } }) =>
              change({
                overlay:
                  value === ""
                    ? undefined
                    : { position: "bottom-right", width: "20%", ...overlay, url: value },
              })
            }
          />
        )}
      </Field>
      {overlay && (
        <div class="columns">
          <Field label={LABELS.position} fault={faultAt("overlay.position")}>
            {(control) => (
              <select
                {...control}
                value={named ?? OWN}
                onChange={({ currentTarget }) =>
                  set({ position: POSITIONS.find((each) => each === currentTarget.value) })
                }
              >
                {named === null && <option value={OWN}>Custom</option>}
                {POSITIONS.map((each) => (
                  <option key={each} value={each}>
                    {POSITION_NAMES[each]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={LABELS.width} fault={faultAt("overlay.width")}>
            {(control) => (
              <select
                {...control}
                value={String(overlay.width ?? OWN)}
                onChange={({ currentTarget }) =>
                  set({ width: widths.find((each) => String(each) === currentTarget.value) })
                }
              >
                <option value={OWN}>Original size</option>
                {widths.map((each) => (
                  <option key={each} value={String(each)}>
                    {typeof each === "number" ? `${each} pixels` : `${each.replace("%", " %")} of the width`}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={LABELS.opacity} fault={faultAt("overlay.opacity")}>
            {(control) => (
              <select
                {...control}
                value={String(opacity)}
                onChange={({ currentTarget: { value } }) =>
                  set({ opacity: Number(value) === 1 ? undefined : Number(value) })
                }
              >
                {[...new Set([...OPACITIES, opacity])].map((each) => (
                  <option key={each} value={each}>
                    {Number((each * 100).toFixed(1))} %
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      )}
      {overlay && wishes.kind === "video" && (
        <div class="columns">
          <NumberField
            label={LABELS.start}
            value={overlay.start}
            onChange={(start) => set({ start })}
            placeholder="at the start"
            fault={faultAt("overlay.start")}
          />
          <NumberField
            label={LABELS.end}
            value={overlay.end}
            onChange={(end) => set({ end })}
            placeholder="never"
            fault={faultAt("overlay.end")}
          />
        </div>
      )}
    </>
  );
}

// A request has no fields that are undefined.
function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
