import { useEffect, useState } from "preact/hooks";
import { Field } from "../ui/field.tsx";
import { clock } from "../words/quantities.ts";
import * as strings from "./strings.ts";
import { parseTime } from "./timeline.ts";

/** A text field for a time. Leaving the field or Enter applies it; Escape restores the previous one. */
export function TimeField({
  label,
  time,
  hint,
  faultOf,
  onTime,
  onHere,
}: {
  label: string;
  time: number;
  hint?: string | null;
  /** Describes what is wrong with a time; null when nothing is. */
  faultOf: (time: number) => string | null;
  onTime: (time: number) => void;
  /** Applies the player's current time; null when nothing plays. */
  onHere: (() => void) | null;
}) {
  const [text, setText] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const forget = () => {
    setText(null);
    setFault(null);
  };
  useEffect(forget, [time]);
  const apply = () => {
    if (text === null) return;
    const parsed = parseTime(text);
    const message = "fault" in parsed ? parsed.fault : faultOf(parsed.seconds);
    if (message !== null || "fault" in parsed) return setFault(message);
    forget();
    onTime(parsed.seconds);
  };
  const here = () => {
    forget();
    onHere?.();
  };
  return (
    <div class="time">
      <Field label={label} hint={hint} fault={fault}>
        {(control) => (
          <div class="typed">
            <input
              {...control}
              class="numbers"
              type="text"
              inputMode="decimal"
              autocomplete="off"
              spellcheck={false}
              value={text ?? clock(time, true)}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
              onBlur={apply}
              onKeyDown={(event) => {
                if (event.key === "Enter") {
                  event.preventDefault();
                  apply();
                } else if (event.key === "Escape" && text !== null) {
                  event.stopPropagation();
                  forget();
                }
              }}
            />
            {onHere && (
              <button
                type="button"
                aria-label={strings.useCurrentPositionFor({ mark: label.toLowerCase() })}
                onClick={here}
              >
                {strings.useCurrentPosition}
              </button>
            )}
          </div>
        )}
      </Field>
    </div>
  );
}
