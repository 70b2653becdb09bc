import { hydrate, render } from "preact";
import { createLocalClient, type LocalClientOptions } from "../src/browser/index.ts";
import { followAddress } from "./address.ts";
import { App } from "./app.tsx";
import { createEdge } from "./console/edge.ts";
import { LOCK_PREFIX } from "./offline/names.ts";
import { createQueue } from "./queue/create-queue.ts";
import { whenIdle } from "./ui/schedule.ts";
import { createDestinations, WorkbenchContext } from "./workbench.ts";

/** Makes the built page work offline, once it is loaded and idle. */
function startOffline(): void {
  const { version } = document.documentElement.dataset;
  if (!version || !("serviceWorker" in navigator)) return;
  // The lock lasts as long as the page and keeps the files of its version.
  void navigator.locks.request(LOCK_PREFIX + version, { mode: "shared" }, () => new Promise<never>(() => {}));
  const begin = async () => {
    const { keepPage } = await import("./offline/keep-page.tsx");
    await keepPage(version);
  };
  if (document.readyState === "complete") whenIdle(begin);
  else addEventListener("load", () => whenIdle(begin), { once: true });
}

const THREADED_CORE = {
  wasm: new URL("../dist/core-mt/ffmpeg-core-mt.wasm.gz", import.meta.url).href,
  glue: new URL("../dist/core-mt/ffmpeg-core-mt.js.gz", import.meta.url).href,
  threads: new URL("../dist/core-mt/ffmpeg-core-mt.worker.js.gz", import.meta.url).href,
} as const satisfies LocalClientOptions["threadedCore"];

const destinations = createDestinations();
const device = createLocalClient({
  name: "framewright-page",
  threadedCore: THREADED_CORE,
  core: { fonts: "/fonts/" },
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
  const address = followAddress();
  const page = (
    <WorkbenchContext.Provider value={{ device, edge, queue, destinations, address }}>
      <App />
    </WorkbenchContext.Provider>
  );
  // The build has already written the first state of the start page or the job.
  const { view, path } = address.value;
  if (view === "files" && path !== "/files") hydrate(page, root);
  else {
    root.replaceChildren();
    render(page, root);
  }
  // The script in `index.html` leaves clicks and drops to the page from now on.
  root.dataset.started = "";
  // No element can lose the focus before one has it.
  const follow = () => void import("./ui/keep-focus.ts").then(({ keepFocus }) => keepFocus(root));
  root.addEventListener("focusin", follow, { once: true });
}
startOffline();
