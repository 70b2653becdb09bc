import { signal } from "@preact/signals";
import { renderToString } from "preact-render-to-string";
import { type Address, addressOf, PLACES } from "./address.ts";
import { App, titleOf } from "./app.tsx";
import { JOBS } from "./home/jobs.ts";
import * as home from "./home/strings.ts";
import { type Workbench, WorkbenchContext } from "./workbench.ts";

/**
 * Renders the start page and the page of each job in the state of a first visit; the list and the console are drawn by script. Returns
 * the path of each page, its title and description, the words and the path of its card, and its content before any script runs.
 */
export function prerender() {
  return ["/", ...JOBS.map(({ path }) => path), ...PLACES].map((path) => {
    const address = addressOf({ pathname: path, search: "" });
    return {
      path,
      title: titleOf(address, []),
      heading: address.job?.heading ?? home.promise,
      lead: home.lead,
      description: address.job?.description ?? `${home.promise} ${home.lead}`,
      card: `/cards${address.job?.path ?? "/home"}.png`,
      html: isPlace(path)
        ? ""
        : renderToString(
            <WorkbenchContext.Provider value={firstVisit(address)}>
              <App />
            </WorkbenchContext.Provider>,
          ),
    };
  });
}

function isPlace(path: string): boolean {
  return PLACES.some((place) => place === path);
}

/** The parts of a workbench that the first state reads. */
function firstVisit(address: Address): Workbench {
  const queue: Pick<Workbench["queue"], "items" | "loaded"> = { items: signal([]), loaded: signal(false) };
  const parts: Pick<Workbench, "address"> & { queue: typeof queue } = { queue, address: signal(address) };
  return parts as Workbench;
}
