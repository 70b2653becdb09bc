// The options that name extra inputs, and who reads these inputs: ffmpeg (each with its own -i), a filter of ffmpeg, or only the host,
// which writes other files from them. A run numbers the inputs in this order. Plans number the files of encoders in the same way, so
// the options that only the host reads come last.
const READERS = {
  overlay: "ffmpeg",
  concat: "ffmpeg",
  subtitles: "host",
  fonts: "host",
} as const satisfies Readonly<Record<string, "ffmpeg" | "filter" | "host">>;
/** The role of an extra input: the option that names its URL, or a list of URLs. */
export type InputRole = keyof typeof READERS;
/** The roles of extra inputs, in the order in which a run numbers them. */
export const INPUT_ROLES = Object.keys(READERS) as [InputRole, ...InputRole[]];

/** A file that a request reads in addition to its main input. */
export interface ExtraInput {
  role: InputRole;
  url: string;
  /** Path of the URL in the request, such as `options.overlay.url`. */
  param: string;
}

/** Returns the extra inputs of a request, in the order in which a run numbers them. */
export function extraInputs(request: { options?: unknown }): ExtraInput[] {
  const inputs: ExtraInput[] = [];
  mapExtraInputs(request, (url, role, param) => {
    if (typeof url === "string") inputs.push({ role, url, param });
    return url;
  });
  return inputs;
}

/**
 * Returns a request with the URLs of its extra inputs replaced, in a job those of all outputs. A URL may be of any type, because
 * clients replace files before the request is parsed. Everything else is unchanged.
 */
export function mapExtraInputs<T extends { options?: unknown; outputs?: unknown }>(
  request: T,
  replace: (url: unknown, role: InputRole, param: string) => unknown,
): T {
  const { options, outputs } = request;
  if (Array.isArray(outputs)) return { ...request, outputs: outputs.map(mapOutput) };
  if (!isTable(options)) return request;
  const changed: Record<string, unknown> = {};
  for (const role of INPUT_ROLES) {
    const value = options[role];
    const replaceIn = (each: unknown, path: string) =>
      isTable(each) && "url" in each
        ? { ...each, url: replace(each.url, role, `options.${path}.url`) }
        : each;
    if (Array.isArray(value)) changed[role] = value.map((each, at) => replaceIn(each, `${role}.${at}`));
    else if (isTable(value)) changed[role] = replaceIn(value, role);
  }
  return { ...request, options: { ...options, ...changed } };

  function mapOutput(output: unknown, index: number): unknown {
    if (!isTable(output)) return output;
    return mapExtraInputs(output, (url, role, param) => replace(url, role, `outputs.${index}.${param}`));
  }
}

/** Returns who reads the extra inputs of a role: ffmpeg as inputs of its own, one of its filters, or only the host. */
export function readerOf(role: InputRole): "ffmpeg" | "filter" | "host" {
  return READERS[role];
}

/** Returns the index of the first extra input of a role in a request; -1 when it has none. */
export function firstInputIndex(options: object, role: InputRole): number {
  return extraInputs({ options }).findIndex((input) => input.role === role);
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
