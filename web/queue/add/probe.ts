import type { LocalClient } from "../../../src/browser/index.ts";
import { type Client, forecast, MediaError, type Source } from "../../../src/index.ts";
import { defaultWishes } from "../../options/default-wishes.ts";
import { faultOf } from "../fault-of.ts";
import type { Place, Wishes } from "../item.ts";
import type { ItemList } from "../item-list.ts";
import { makeThumbnail } from "../picture/thumbnail.ts";

/** Probes the item of an id with a client for that place, and puts the result or the error into the list. Never rejects. */
export type Probe = (id: string, client?: Client, place?: Place) => Promise<void>;

/** Creates a {@link Probe}; of several tabs, one probes an item. */
export function createProbe(name: string, list: ItemList, device: LocalClient): Probe {
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

// For some files the facts can be read but not the pictures. No option helps there, so say so before any is chosen.
function refuseUnreadable(source: Source, { kind, options }: Wishes): void {
  try {
    forecast(kind, options, source);
  } catch (thrown) {
    if (thrown instanceof MediaError && thrown.kind === "input_unsupported") throw thrown;
  }
}
