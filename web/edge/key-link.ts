import { isLoopback } from "../../src/util/loopback.ts";

/**
 * Takes the key out of the page's address, where the link that `npm run dev` prints has it (`#key=…`), and turns to the console;
 * null without one. On a page of another machine's service such a link may be a stranger's, who would see what its visitor does
 * with that key: it is ignored, but removed too.
 */
export function takeLinkedKey(): string | null {
  const key = /^#key=([\x21-\x7e]{1,512})$/.exec(location.hash)?.[1];
  if (key === undefined) return null;
  // In place of the address with the key, also in the tab's history.
  location.replace("#/edge");
  return isLoopback(location.hostname) ? key : null;
}
