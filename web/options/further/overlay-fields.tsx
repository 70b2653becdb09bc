import { POSITIONS } from "../../../src/index.ts";
import { Field } from "../../ui/field.tsx";
import type { AnyOptions } from "../choices.ts";
import type { Form } from "../use-form.ts";
import { POSITION_WORDS } from "../words.ts";

const WIDTHS = ["10%", "20%", "30%", "50%", "100%"] as const;
const OWN = "";

/** A picture to lay over a video or an image: its address, and where and how large it is. */
export function OverlayFields({ form: { options, change, faultAt } }: { form: Form }) {
  const { overlay } = options;
  const set = (changes: Partial<NonNullable<AnyOptions["overlay"]>>) =>
    overlay && change({ overlay: { ...overlay, ...changes } });
  const named = typeof overlay?.position === "object" ? null : (overlay?.position ?? "center");
  const widths = [...new Set([...WIDTHS, ...(overlay?.width === undefined ? [] : [overlay.width])])];
  return (
    <>
      <Field
        label="Logo or watermark"
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
          <Field label="Logo position" fault={faultAt("overlay.position")}>
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
                    {POSITION_WORDS[each]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Logo width" fault={faultAt("overlay.width")}>
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
        </div>
      )}
    </>
  );
}
