import { render } from "preact";
import { createLocalClient, type LocalClientOptions } from "../src/browser/index.ts";
import { App } from "./app.tsx";
import { createEdge } from "./console/edge.ts";
import { startOffline } from "./offline/start.ts";
import { createQueue } from "./queue/create-queue.ts";
import { createDestinations } from "./result/destinations.ts";
import { keepFocus } from "./ui/keep-focus.ts";
import { WorkbenchContext } from "./workbench.ts";

const THREADED_CORE = {
  wasm: new URL("../dist/core-mt/ffmpeg-core-mt.wasm.gz", import.meta.url).href,
  glue: new URL("../dist/core-mt/ffmpeg-core-mt.js.gz", import.meta.url).href,
  threads: new URL("../dist/core-mt/ffmpeg-core-mt.worker.js.gz", import.meta.url).href,
} as const satisfies LocalClientOptions["threadedCore"];

const destinations = createDestinations();
const device = createLocalClient({
  name: "framewright-page",
  threadedCore: THREADED_CORE,
  // The visitor types the URLs, which may be in a private network.
  allowPrivate: true,
  connections: [destinations.connection],
  // The queue stores each file once for all of its tasks.
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
