import { render } from "preact";
import { createLocalClient } from "../src/browser/index.ts";
import { App } from "./app.tsx";
import { createEdge } from "./edge/create-edge.ts";
import { startOffline } from "./offline/start.ts";
import { createQueue } from "./queue/create-queue.ts";
import { createDestinations } from "./result/save/destinations.ts";
import { THREADED_CORE } from "./threaded-core.ts";
import { keepFocus } from "./ui/keep-focus.ts";
import { WorkbenchContext } from "./workbench.ts";

// The composition root of the page.
const destinations = createDestinations();
const device = createLocalClient({
  name: "framewright-page",
  threadedCore: THREADED_CORE,
  // The visitor types URLs, whose own network may have the files.
  allowPrivate: true,
  connections: [destinations.connection],
  // The queue stores each file itself, once for all of its tasks.
  keepInputBytes: 0,
});
const edge = createEdge();
const queue = createQueue(device, edge);
const root = document.getElementById("app");
if (root) {
  render(
    <WorkbenchContext.Provider value={{ device, edge, queue, destinations }}>
      <App />
    </WorkbenchContext.Provider>,
    root,
  );
  keepFocus(root);
}
startOffline();
