/** The options that name extra inputs, in the order in which a run numbers them; inputs that no encoder reads come last. */
export const INPUT_ROLES = ["overlay", "concat", "subtitles", "fonts"] as const;
/** The role of an extra input: the option that names its URL, or a list of URLs. */
export type InputRole = (typeof INPUT_ROLES)[number];

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

/** Returns whether encoders read extra inputs of a role themselves; subtitles and fonts are written into other files first. */
export function isEncoded(role: InputRole): boolean {
  return role !== "subtitles" && role !== "fonts";
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
