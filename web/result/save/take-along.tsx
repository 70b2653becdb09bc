import { lazy, Suspense } from "preact/compat";
import { useState } from "preact/hooks";
import type { Output } from "../../../src/index.ts";
import type { Item } from "../../queue/item.ts";
import { Icon } from "../../ui/icon.tsx";
import { useWorkbench } from "../../workbench.ts";
import { DoingView } from "../doing-view.tsx";
import { filesOf } from "../output-files.ts";
import { useDoing } from "../use-doing.ts";
import { downloadOne } from "./download.ts";
import { isFolder, outputName } from "./file-names.ts";

const CopyDialog = lazy(async () => ({ default: (await import("../view/copy-dialog.tsx")).CopyDialog }));
const S3Dialog = lazy(async () => ({ default: (await import("../s3/s3-dialog.tsx")).S3Dialog }));

/** Ways to take an output from the page: to disk, to S3, or as an API call in code. */
export function TakeAlong({ item, output, url }: { item: Item; output: Output; url: string }) {
  const { queue } = useWorkbench();
  const [dialog, setDialog] = useState<"copy" | "s3" | null>(null);
  const doing = useDoing({ outlives: true });
  const close = () => setDialog(null);
  const { source } = output;
  // The browser itself saves a file of this machine; it would open one from elsewhere.
  const isPlain = !isFolder(source) && filesOf(output).length > 0;
  const download = () =>
    doing.begin(async (watch) => ((await downloadOne(item, queue, watch)) ? "The file is ready." : null));
  return (
    <>
      <div class="row">
        {isPlain ? (
          <a class="button primary" href={url} download={outputName(item.name, source)}>
            <Icon name="download" />
            Download
          </a>
        ) : (
          <button type="button" class="primary" onClick={download} disabled={doing.progress !== null}>
            <Icon name="download" />
            {isFolder(source) ? "Download as zip" : "Download"}
          </button>
        )}
        <button type="button" onClick={() => setDialog("s3")}>
          <Icon name="upload" />
          Send to S3
        </button>
        <button type="button" onClick={() => setDialog("copy")}>
          <Icon name="copy" />
          Copy as code
        </button>
      </div>
      <DoingView doing={doing} label="Saving" />
      <Suspense fallback={null}>
        {dialog === "copy" && <CopyDialog item={item} onClose={close} />}
        {dialog === "s3" && <S3Dialog item={item} output={output} onClose={close} />}
      </Suspense>
    </>
  );
}
