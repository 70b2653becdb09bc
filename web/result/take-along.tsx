import type { Output } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";
import { Icon } from "../ui/icon.tsx";
import { outputName } from "./file-names.ts";

/** Where an output can go from the page: to the visitor's disk, to S3, and as a call of the API into code. */
export function TakeAlong({ item, output, url }: { item: Item; output: Output; url: string }) {
  return (
    <div class="row">
      <a class="button primary" href={url} download={outputName(item.name, output.source)}>
        <Icon name="download" />
        Download
      </a>
    </div>
  );
}
