import type { MediaInput } from "../../src/index.ts";
import { Moment } from "../trim/moment.tsx";
import { type Stretch, Trim } from "../trim/trim.tsx";
import type { AnyOptions } from "./choices.ts";
import type { Form } from "./use-form.ts";

/** Which part of a file is taken, or for a picture which moment of it; nothing for what has no time. */
export function Times({ input, form }: { input: MediaInput | null; form: Form }) {
  const { source, wishes, options } = form;
  if (!source.duration || !input) return null;
  if (wishes.kind === "image" && source.kind === "image") return null;
  // The same preset is used for any part of a file.
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
