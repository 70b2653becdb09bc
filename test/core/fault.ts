import { MediaError } from "../../src/media/errors.ts";

/** Returns the kind and param of the MediaError that a call throws, or the value it returns. */
export function faultOf(call: () => unknown): unknown {
  try {
    return { returned: call() };
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    return thrown.param === undefined ? [thrown.kind] : [thrown.kind, thrown.param];
  }
}
