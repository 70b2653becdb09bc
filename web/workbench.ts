import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { LocalClient } from "../src/browser/index.ts";
import type { Edge } from "./edge/edge.ts";
import type { Queue } from "./queue/queue.ts";
import type { Destinations } from "./result/save/destinations.ts";

/** What the parts of the page work with, put together in main.tsx alone. */
export interface Workbench {
  /** Tasks on this machine. */
  readonly device: LocalClient;
  /** The service that the visitor connected with. */
  readonly edge: Edge;
  readonly queue: Queue;
  /** The S3 storage that outputs of this machine are sent to. */
  readonly destinations: Destinations;
}

/** Gives the parts their {@link Workbench}. */
export const WorkbenchContext = createContext<Workbench | null>(null);

/** Gives a part the {@link Workbench} of its page. */
export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (!workbench) throw new Error("There is no workbench around this part.");
  return workbench;
}
