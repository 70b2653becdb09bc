import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { LocalClient, LocalConnection, SignRequest } from "../src/browser/index.ts";
import { MediaError } from "../src/index.ts";
import type { Address } from "./address.ts";
import type { Edge } from "./console/edge.ts";
import type { Queue } from "./queue/queue.ts";
import * as strings from "./strings.ts";

/** S3 storage for outputs of this machine, with keys or signers that the page keeps in memory only. */
interface Destinations {
  /** The connection for the local client: it has each request signed here while the page is open. */
  readonly connection: LocalConnection & { readonly id: string };
  /**
   * Signs requests to an address with a function from now on. The address is `<bucket>/<key>`, or ends with a slash to include everything
   * below it.
   */
  use(address: string, sign: SignRequest): void;
}

export function createDestinations(): Destinations {
  const signers = new Map<string, SignRequest>();
  return {
    connection: {
      id: "page",
      async sign(request) {
        const object = `${request.bucket}/${request.key}`;
        const fitting = [...signers].filter(([address]) =>
          address.endsWith("/") ? object.startsWith(address) : object === address,
        );
        const [match] = fitting.sort(([one], [other]) => other.length - one.length);
        if (match) return match[1](request);
        const message = strings.storageAccessLost;
        throw new MediaError("upload_forbidden", message, { retryable: false });
      },
    },
    use: (address, sign) => void signers.set(address, sign),
  };
}

export interface Workbench {
  readonly device: LocalClient;
  readonly edge: Edge;
  readonly queue: Queue;
  readonly address: ReadonlySignal<Address>;
  /** S3 storage for outputs of this machine. */
  readonly destinations: Destinations;
}

export const WorkbenchContext = createContext<Workbench | null>(null);

export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (!workbench) throw new Error("There is no WorkbenchContext around this component.");
  return workbench;
}
