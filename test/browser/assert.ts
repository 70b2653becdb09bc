/** Throws unless the value is truthy. */
export function ok(value: unknown, message = `${show(value)} is not truthy`): asserts value {
  if (!value) throw new Error(message);
}

/** Throws unless both values are the same, by `Object.is`. */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  ok(Object.is(actual, expected), message ?? `${show(actual)} is not ${show(expected)}`);
}

/** Throws if both values are the same, by `Object.is`. */
export function notEqual(actual: unknown, other: unknown, message?: string): void {
  ok(!Object.is(actual, other), message ?? `both are ${show(actual)}`);
}

/** Throws unless both values are deeply equal. */
export function deepEqual(actual: unknown, expected: unknown, message?: string): void {
  ok(isAlike(actual, expected), message ?? `${show(actual)} is not ${show(expected)}`);
}

/** Throws unless the text matches. */
export function match(text: string, pattern: RegExp, message = `${show(text)} does not match ${pattern}`) {
  ok(pattern.test(text), message);
}

/** Throws unless the promise rejects with an error that matches the pattern (as `Name: message`) or has the expected fields. */
export async function rejects(
  promise: Promise<unknown> | (() => Promise<unknown>),
  expected?: RegExp | Record<string, unknown>,
): Promise<void> {
  let thrown: unknown;
  try {
    await (typeof promise === "function" ? promise() : promise);
  } catch (error) {
    thrown = error;
    if (expected instanceof RegExp) return match(String(error), expected);
    for (const [name, value] of Object.entries(expected ?? {})) {
      const field = Reflect.get(Object(error), name);
      if (value instanceof RegExp) match(String(field), value);
      else deepEqual(field, value, `${name} of ${error} is ${show(field)}, not ${show(value)}`);
    }
  }
  ok(thrown, "the promise did not reject");
}

function isAlike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const [names, others] = [Object.keys(a), Object.keys(b)];
  return (
    names.length === others.length &&
    names.every((name) => Object.hasOwn(b, name) && isAlike(Reflect.get(a, name), Reflect.get(b, name)))
  );
}

function show(value: unknown): string {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
