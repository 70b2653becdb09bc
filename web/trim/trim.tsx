import type { MediaInput, Source } from "../../src/index.ts";

/** A stretch of time in a file, in seconds; without an end it goes on to the end of the file. */
export interface Stretch {
  readonly start?: number;
  readonly end?: number;
}

/** A timeline of a file, with handles for where the output begins and ends. */
export function Trim(_: {
  input: MediaInput;
  source: Source;
  stretch: Stretch;
  onChange: (stretch: Stretch) => void;
}) {
  return null;
}
