import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { LocalClient } from "../src/browser/index.ts";
import type { Edge } from "./console/edge.ts";
import type { Queue } from "./queue/queue.ts";
import type { Destinations } from "./result/destinations.ts";

export interface Workbench {
  readonly device: LocalClient;
  readonly edge: Edge;
  readonly queue: Queue;
  /** S3 storage for outputs of this machine. */
  readonly destinations: Destinations;
}

export const WorkbenchContext = createContext<Workbench | null>(null);

export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (!workbench) throw new Error("There is no WorkbenchContext around this component.");
  return workbench;
}
