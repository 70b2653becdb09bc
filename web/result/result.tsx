import { lazy, Suspense } from "preact/compat";
import type { Output } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";
import { Icon } from "../ui/icon.tsx";
import { filesOf } from "./output-files.ts";
import { factsOf } from "./view/facts.ts";
import "./result.css";
import { useState } from "preact/hooks";
import { Notice } from "../ui/notice.tsx";
import { saving } from "../words/quantities.ts";
import { isFolder } from "./save/file-names.ts";
import { TakeAlong } from "./save/take-along.tsx";
import { useOutput } from "./use-output.ts";
import { Pictures } from "./view/pictures.tsx";
import { canCompare, SideBySide } from "./view/side-by-side.tsx";

const Player = lazy(async () => ({ default: (await import("./view/player.tsx")).Player }));

/** The output of an item that succeeded: play, compare with the original, and save. */
export function Result({ item }: { item: Item }) {
  const { output, url, fault } = useOutput(item);
  const [isCompared, setCompared] = useState(false);
  if (fault) return <Notice tone="bad">{fault.message}</Notice>;
  if (!output) return <p class="soft">Opening…</p>;
  const { source } = output;
  const files = filesOf(output);
  const after = isFolder(source) ? null : (source.filesize ?? files[0]?.file.size ?? null);
  const before = item.size ?? item.source?.filesize ?? null;
  return (
    <div class="result">
      <div class="shown">
        {isCompared ? (
          <SideBySide item={item} output={source} url={url} />
        ) : (
          <Shown output={output} url={url} name={item.name} />
        )}
        {canCompare(item, source) && (
          <button
            type="button"
            class="compare-toggle"
            aria-pressed={isCompared}
            onClick={() => setCompared(!isCompared)}
          >
            <Icon name="compare" />
            Compare with the original
          </button>
        )}
      </div>
      <div class="told">
        {before !== null && after !== null && <p class="saving numbers">{saving(before, after)}</p>}
        <dl class="facts">
          {factsOf(
            source,
            files.map(({ file }) => file.size),
          ).map(([name, words]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="numbers">{words}</dd>
            </div>
          ))}
        </dl>
        <TakeAlong item={item} output={output} url={url} />
      </div>
    </div>
  );
}

function Shown({ output, url, name }: { output: Output; url: string; name: string }) {
  const { source } = output;
  const { width, height } = source;
  if (source.files) return <Pictures output={output} name={name} />;
  if (source.kind === "image") return <Picture url={url} name={name} width={width} height={height} />;
  if (source.kind === "data") {
    return <p class="soft">Data for players such as wavesurfer.js and peaks.js: give them this file.</p>;
  }
  if (source.format === "dash") {
    return <p class="soft">A stream for players such as dash.js and Shaka Player: give them manifest.mpd.</p>;
  }
  const kind = source.kind === "audio" || source.codecs?.video === null ? "audio" : "video";
  return (
    <Suspense fallback={<div class="player empty" />}>
      <Player
        {...{ url, kind, name }}
        isStream={source.kind === "adaptive_video"}
        shape={width && height ? `${width} / ${height}` : "16 / 9"}
      />
    </Suspense>
  );
}

/** Shows a whole picture, with a checkerboard behind transparent parts. */
function Picture({
  url,
  name,
  width = 0,
  height = 0,
}: {
  url: string;
  name: string;
  width: number | undefined;
  height: number | undefined;
}) {
  const [isUnknown, setUnknown] = useState(false);
  if (isUnknown) {
    return (
      <Notice tone="warn">This browser cannot show this format. Download it to see it elsewhere.</Notice>
    );
  }
  return (
    <div class="picture" style={width && height ? { "--wide": width, "--high": height } : {}}>
      <img src={url} alt={name} crossOrigin="anonymous" onError={() => setUnknown(true)} />
    </div>
  );
}
