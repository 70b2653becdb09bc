import type { Item } from "../../queue/item.ts";
import { Icon } from "../../ui/icon.tsx";
import { useWorkbench } from "../../workbench.ts";
import { DoingView } from "../doing-view.tsx";
import { downloadAll } from "./download.ts";
import { canPickFolder, pickFolder } from "./pickers.ts";
import "./take-all.css";
import { useDoing } from "../use-doing.ts";
import { type Saved, saveAll } from "./save-all.ts";

/** Downloads items that succeeded as one zip, or saves them to a folder. */
export function TakeAll({ items }: { items: readonly Item[] }) {
  const { queue } = useWorkbench();
  const doing = useDoing({ outlives: true });
  const zip = () =>
    doing.begin(async (watch) => {
      const isDone = await downloadAll(items, queue, watch);
      return isDone ? "The zip is ready." : null;
    });
  const save = () =>
    doing.begin(async (watch) => {
      const folder = await pickFolder();
      return folder && wordsOf(await saveAll(items, folder, queue, watch), items.length);
    });
  return (
    <div class="take-all">
      <div class="row">
        <button type="button" onClick={zip} disabled={doing.progress !== null}>
          <Icon name="download" />
          Download all
        </button>
        {canPickFolder() && (
          <button type="button" onClick={save} disabled={doing.progress !== null}>
            <Icon name="folder" />
            Save to a folder
          </button>
        )}
      </div>
      <DoingView doing={doing} label="Saving" />
    </div>
  );
}

function wordsOf({ names, faults }: Saved, count: number): string {
  const done = names.length === count ? `${count} saved.` : `${names.length} of ${count} saved.`;
  return [done, ...faults.map(({ name, fault }) => `${name}: ${fault.message}`)].join(" ");
}
