import { signal } from "@preact/signals";
import { renderToString } from "preact-render-to-string";
import { type Address, addressOf } from "./address.ts";
import { App, titleOf } from "./app.tsx";
import { JOBS } from "./home/jobs.ts";
import * as home from "./home/strings.ts";
import { type Workbench, WorkbenchContext } from "./workbench.ts";

/**
 * Renders the start page and the page of each job in the state of a first visit. Returns the path of each, its title and description, the
 * words and the path of its card, and its content before any script runs.
 */
export function prerender() {
  return ["/", ...JOBS.map(({ path }) => path)].map((path) => {
    const address = addressOf({ pathname: path, hash: "" });
    return {
      path,
      title: titleOf(address, true),
      heading: address.job?.heading ?? home.promise,
      lead: home.lead,
      description: address.job?.description ?? `${home.promise} ${home.lead}`,
      card: `/cards${path === "/" ? "/home" : path}.png`,
      html: renderToString(
        <WorkbenchContext.Provider value={firstVisit(address)}>
          <App />
        </WorkbenchContext.Provider>,
      ),
    };
  });
}

/** The parts of a workbench that the first state reads. */
function firstVisit(address: Address): Workbench {
  const queue: Pick<Workbench["queue"], "items" | "loaded"> = { items: signal([]), loaded: signal(false) };
  const parts: Pick<Workbench, "address"> & { queue: typeof queue } = { queue, address: signal(address) };
  return parts as Workbench;
}
