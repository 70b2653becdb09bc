import type { LocalConnection, SignRequest } from "../../../src/browser/index.ts";
import { MediaError } from "../../../src/index.ts";

/** The S3 storage that outputs of this machine are sent to, by keys or signatures that the page has in memory alone. */
export interface Destinations {
  /** What the local client is given: it has each request signed here, as long as the page is open. */
  readonly connection: LocalConnection & { readonly id: string };
  /** Has what goes to an address be signed by a function from now on: `<bucket>/<key>`, or with a slash at its end all below it. */
  use(address: string, sign: SignRequest): void;
}

/** Builds the page's {@link Destinations}. */
export function createDestinations(): Destinations {
  const signers = new Map<string, SignRequest>();
  return {
    connection: {
      id: "page",
      async sign(request) {
        const asked = `${request.bucket}/${request.key}`;
        const fitting = [...signers].filter(([address]) =>
          address.endsWith("/") ? asked.startsWith(address) : asked === address,
        );
        // The longest is the nearest.
        const [found] = fitting.sort(([one], [other]) => other.length - one.length);
        if (found) return found[1](request);
        const message = "The page was reloaded and no longer has access to the storage. Send the file again.";
        throw new MediaError("upload_forbidden", message, { retryable: false });
      },
    },
    use: (address, sign) => void signers.set(address, sign),
  };
}
