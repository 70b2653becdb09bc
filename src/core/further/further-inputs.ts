/** What a further input is for: the name of the option that names its URL, or a list of several. */
export type InputRole = (typeof INPUT_ROLES)[number];

/** A file that a request reads beside its input. */
export interface FurtherInput {
  role: InputRole;
  url: string;
  /** Path of the URL in the request, such as `options.overlay.url`. */
  param: string;
}

/** The options that name further inputs, in the order in which a run numbers them; those that no encoder reads come last. */
export const INPUT_ROLES = ["overlay", "concat", "subtitles"] as const;

/** Returns the files that a request reads beside its input, in the order in which encoders receive them. */
export function furtherInputs(request: { options?: unknown }): FurtherInput[] {
  const found: FurtherInput[] = [];
  mapFurther(request, (url, role, param) => {
    if (typeof url === "string") found.push({ role, url, param });
    return url;
  });
  return found;
}

/**
 * Returns a request with the URLs of its further inputs replaced, for a job those of all its outputs. They may still be of any
 * type, because clients replace files before the request is parsed; everything else is left as it is.
 */
export function mapFurther<T extends { options?: unknown; outputs?: unknown }>(
  request: T,
  replace: (url: unknown, role: InputRole, param: string) => unknown,
): T {
  const { options, outputs } = request;
  if (Array.isArray(outputs)) return { ...request, outputs: outputs.map(mapOutput) };
  if (!isTable(options)) return request;
  const changed: Record<string, unknown> = {};
  for (const role of INPUT_ROLES) {
    const given = options[role];
    const one = (each: unknown, path: string) =>
      isTable(each) && "url" in each
        ? { ...each, url: replace(each.url, role, `options.${path}.url`) }
        : each;
    if (Array.isArray(given)) changed[role] = given.map((each, at) => one(each, `${role}.${at}`));
    else if (isTable(given)) changed[role] = one(given, role);
  }
  return { ...request, options: { ...options, ...changed } };

  function mapOutput(output: unknown, index: number): unknown {
    if (!isTable(output)) return output;
    return mapFurther(output, (url, role, param) => replace(url, role, `outputs.${index}.${param}`));
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
