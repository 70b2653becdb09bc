import { useSignal } from "@preact/signals";
import { lazy, Suspense } from "preact/compat";
import type { EncodeKind, Source, Task } from "../../src/index.ts";
import { lacksHls } from "../../src/media/formats.ts";
import { isFolder, outputName } from "../result/file-names.ts";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { bytes } from "../words/quantities.ts";
import { ActButton, CopyButton, offerFile } from "./controls.tsx";
import { useService } from "./service.ts";
import * as strings from "./strings.ts";
import { encodeOf, placeOf } from "./task-words.ts";

const Player = lazy(async () => ({ default: (await import("../result/player.tsx")).Player }));

export function TaskOutput({ task }: { task: Task }) {
  const url = task.output ?? "";
  const output = encodeOf(task)?.output;
  const filesize = output?.filesize;
  const stills = task.kind === "image" ? output?.files : undefined;
  const isMany = task.kind === "adaptive_video" || (output != null && isFolder(output));
  const name = output ? outputName(placeOf(task.input).name, output) : placeOf(url).name;
  if (!/^https?:/i.test(url))
    return (
      <section class="stack tight">
        <h3>{strings.output}</h3>
        <p class="mono wrap">{url}</p>
        <p class="soft small">{strings.storedAtDestination}</p>
      </section>
    );
  return (
    <section class="stack tight">
      <h3>
        {strings.output}
        {filesize !== undefined && <span class="soft"> · {bytes(filesize)}</span>}
      </h3>
      {!lacksHls(output?.format ?? "") && <Preview kind={task.kind} url={url} name={name} output={output} />}
      <div class="row">
        <a class="button" href={url} target="_blank" rel="noreferrer">
          {strings.open}
        </a>
        {isMany ? (
          <CopyButton text={url} label={strings.copyAddress} words />
        ) : (
          <Download task={task} url={url} name={name} />
        )}
      </div>
      {stills && <Stills files={stills} />}
      {isMany && !stills && <p class="soft small">{strings.severalFiles}</p>}
    </section>
  );
}

function Stills({ files }: { files: NonNullable<Source["files"]> }) {
  return (
    <p class="soft small">
      {strings.picturesByTime({ count: files.length })}{" "}
      {files.map(({ url, time = 0 }, index) => (
        <span key={url}>
          {index > 0 && ", "}
          <a href={url} target="_blank" rel="noreferrer">
            {time} s
          </a>
        </span>
      ))}
    </p>
  );
}

function Preview({
  kind,
  url,
  name,
  output,
}: {
  kind: EncodeKind;
  url: string;
  name: string;
  output: Source | null | undefined;
}) {
  const failed = useSignal(false);
  if (output?.kind === "data") return null;
  const sheet = output?.files?.find(({ mime }) => mime.startsWith("image/"))?.url;
  if (kind !== "image" && kind !== "animation" && output?.kind !== "image" && !sheet)
    return (
      <Suspense fallback={null}>
        <div class="result">
          <Player
            url={url}
            kind={kind === "audio" || output?.codecs?.video === null ? "audio" : "video"}
            name={name}
            isStream={kind === "adaptive_video"}
            {...(output?.width && output.height && { shape: `${output.width} / ${output.height}` })}
          />
        </div>
      </Suspense>
    );
  if (failed.value) return <Notice tone="warn">{strings.outputNotShown}</Notice>;
  const fail = () => {
    failed.value = true;
  };
  return <img src={sheet ?? url} crossOrigin="anonymous" alt={name} onError={fail} />;
}

// Browsers honor `download` only on links to the page's own origin.
function Download({ task, url, name }: { task: Task; url: string; name: string }) {
  const { client } = useService();
  if (URL.parse(url)?.origin === location.origin)
    return (
      <a class="button" href={url} download={name}>
        <Icon name="download" />
        {strings.download}
      </a>
    );
  const fetchFirst = async () => {
    offerFile(name, await (await client.output(task)).blob());
  };
  return <ActButton label={strings.download} of={name} icon="download" variant="plain" act={fetchFirst} />;
}
