import type { MediaInput, Source } from "../../src/index.ts";
import type { Stretch } from "./stretch.ts";

export type { Stretch };

/** A timeline of a file, with handles for where the output begins and ends. */
export function Trim(_: {
  input: MediaInput;
  source: Source;
  stretch: Stretch;
  onChange: (stretch: Stretch) => void;
}) {
  return null;
}
