import type { MediaInput } from "../../src/index.ts";
import { Moment } from "../trim/moment.tsx";
import { type Stretch, Trim } from "../trim/trim.tsx";
import type { AnyOptions } from "./choices.ts";
import type { Form } from "./use-form.ts";

/** The part of a file to use, or for a picture the moment; nothing for files without a timeline. */
export function Times({ input, form }: { input: MediaInput | null; form: Form }) {
  const { source, wishes, options } = form;
  if (!source.duration || !input) return null;
  if (wishes.kind === "image" && source.kind === "image") return null;
  // Trimming does not change the preset.
  const change = (times: Stretch) => {
    form.wish((now) => {
      const { start: _start, end: _end, ...rest } = now.options as AnyOptions;
      return { ...now, options: { ...rest, ...times } as typeof now.options };
    });
  };
  const { start, end } = options;
  return (
    <div class="times">
      {wishes.kind === "image" ? (
        <Moment
          input={input}
          source={source}
          time={start}
          onChange={(time) => change(time === undefined ? {} : { start: time })}
        />
      ) : (
        <Trim
          input={input}
          source={source}
          stretch={{ ...(start !== undefined && { start }), ...(end !== undefined && { end }) }}
          onChange={change}
        />
      )}
    </div>
  );
}
