import type { LocalClient } from "../../../src/browser/index.ts";
import { type Client, forecast, MediaError, type Source } from "../../../src/index.ts";
import { defaultWishes } from "../../options/default-wishes.ts";
import { faultOf } from "../fault-of.ts";
import type { Place, Wishes } from "../item.ts";
import type { ItemList } from "../item-list.ts";
import { makeThumbnail } from "../picture/thumbnail.ts";

/** Looks into the item of an id, by a client that is at that place; what it finds, or why it cannot, comes into the list. Never rejects. */
export type Look = (id: string, client?: Client, place?: Place) => Promise<void>;

/** Builds a {@link Look}; of several tabs one looks into an item. */
export function createLook(name: string, list: ItemList, device: LocalClient): Look {
  return (id, client = device, place = "device") =>
    navigator.locks.request(`${name} look ${id}`, async () => {
      const item = await list.refresh(id);
      if (!item?.input || item.source) return;
      const { input } = item;
      try {
        const source = await client.probe(input);
        const size = item.size ?? source.filesize ?? null;
        const wishes = { ...defaultWishes(source), place };
        refuseUnreadable(source, wishes);
        list.change(id, { source, size, fault: null, wishes });
        const thumbnail = await makeThumbnail(input, source, device);
        if (thumbnail) list.change(id, { thumbnail });
      } catch (thrown) {
        if (!list.find(id)?.source) list.change(id, { fault: faultOf(thrown) });
      }
      await list.saved(id);
    });
}

// The facts of some files can be told and their pictures not read; no wish helps there, so that it is said before one is made.
function refuseUnreadable(source: Source, { kind, options }: Wishes): void {
  try {
    forecast(kind, options, source);
  } catch (thrown) {
    if (thrown instanceof MediaError && thrown.kind === "input_unsupported") throw thrown;
  }
}
