import { MediaError } from "../../src/core/errors.ts";

/** Gives kind and param of the MediaError that a call throws, or what it returned. */
export function faultOf(call: () => unknown): unknown {
  try {
    return { returned: call() };
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    return thrown.param === undefined ? [thrown.kind] : [thrown.kind, thrown.param];
  }
}
