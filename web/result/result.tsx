import { lazy, Suspense } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import type { Output, Source } from "../../src/index.ts";
import { lacksHls } from "../../src/media/formats.ts";
import { keepsOriginal } from "../options/default-settings.ts";
import type { Item } from "../queue/item.ts";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { SizeBar } from "../ui/size-bar.tsx";
import { describeEncoder } from "../words/item-words.ts";
import { codecName, formatName } from "../words/names.ts";
import { bytes, clock, saving } from "../words/quantities.ts";
import { originalKept } from "../words/strings.ts";
import { useWorkbench } from "../workbench.ts";
import { canCompare, SideBySide } from "./compare.tsx";
import { downloadOne } from "./download.ts";
import { isFolder, outputName } from "./file-names.ts";
import { OperationView, useOperation } from "./operation.tsx";
import { filesOf, useOutput } from "./output-files.ts";
import * as strings from "./strings.ts";
import "./result.css";

/** A fact in words, with its name. */
export type Fact = readonly [name: string, words: string];

/**
 * Lists what is known about an output: format, codecs, pixels, duration, frames, sound, bitrate and encoder; for a folder
 * also its size, from the files available here.
 */
export function factsOf(source: Source, sizes: readonly number[] = []): Fact[] {
  const { codecs, audio, renditions } = source;
  const isMany = isFolder(source);
  const coded = [codecs?.video, codecs?.audio].filter((codec) => codec !== null && codec !== undefined);
  const facts: (readonly [string, string | null | undefined | false])[] = [
    [strings.format, formatName(source.format)],
    [
      coded.length > 1 ? strings.codecs : strings.codec,
      source.kind !== "image" && namesOf(coded, source.format),
    ],
    [strings.picture, pixels(source)],
    [strings.duration, source.duration !== undefined && clock(source.duration, true)],
    [
      strings.frameRate,
      source.fps !== undefined && source.fps > 0 && strings.perSecond({ fps: Number(source.fps.toFixed(2)) }),
    ],
    [
      strings.sound,
      audio &&
        strings.audioFacts({
          channels: channels(audio.channels),
          rate: Number((audio.sample_rate / 1000).toFixed(1)),
        }),
    ],
    [strings.bitrate, source.bitrate !== undefined && source.kind !== "image" && bitrate(source.bitrate)],
    [
      strings.renditions,
      renditions
        ?.map(({ width, height }) => (width && height ? `${width} × ${height}` : strings.soundOnly))
        .join(", "),
    ],
    [
      strings.files,
      isMany && sizes.length > 0 && `${sizes.length}, ${bytes(sizes.reduce((sum, size) => sum + size, 0))}`,
    ],
    [strings.made, describeEncoder(source)],
  ];
  return facts.filter((fact): fact is Fact => typeof fact[1] === "string" && fact[1] !== "");
}

function namesOf(codecs: readonly string[], format: string): string | null {
  const names = codecs.map(codecName);
  return names.length === 1 && names[0] === formatName(format) ? null : names.join(" + ");
}

function pixels({ width, height }: Source): string | null {
  return width && height ? strings.pixels({ width, height }) : null;
}

function channels(count: number): string {
  return strings.channels({ count });
}

function bitrate(bits: number): string {
  if (bits < 1_000_000) return strings.kilobits({ rate: Math.round(bits / 1000) });
  return `${Number((bits / 1_000_000).toPrecision(3))} Mbit/s`;
}

const Player = lazy(async () => ({ default: (await import("./player.tsx")).Player }));

/** The output of an item that succeeded: play, compare with the original, and save. */
export function Result({ item }: { item: Item }) {
  const { output, url, fault } = useOutput(item);
  const [isCompared, setCompared] = useState(false);
  if (fault) return <Notice tone="bad">{fault.message}</Notice>;
  if (!output) return <p class="soft">{strings.opening}</p>;
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
            {strings.compare}
          </button>
        )}
      </div>
      <div class="summary">
        {before !== null && after !== null && (
          <p class="saving numbers">
            {saving(before, after)}
            <SizeBar before={before} after={after} />
          </p>
        )}
        {keepsOriginal(item) && <p>{originalKept}</p>}
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
    return <p class="soft">{strings.waveformUse}</p>;
  }
  if (lacksHls(source.format)) {
    return <p class="soft">{strings.dashUse}</p>;
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
    return <Notice tone="warn">{strings.pictureNotShown}</Notice>;
  }
  return (
    <div class="picture" style={width && height ? { "--wide": width, "--high": height } : {}}>
      <img src={url} alt={name} crossOrigin="anonymous" onError={() => setUnknown(true)} />
    </div>
  );
}

const MAX_PICTURES = 24;

interface SeriesPicture {
  readonly name: string;
  readonly url: string;
  /** Seconds in the source; absent for a sheet. */
  readonly time: number | undefined;
}

function Pictures({ output, name }: { output: Output; name: string }) {
  const pictures = usePictures(output);
  const [first] = pictures;
  const count = (output.source.files ?? []).filter(isPicture).length;
  const isSheets = first?.time === undefined;
  return (
    <>
      <ul class={isSheets ? "pictures sheets" : "pictures"} aria-label={strings.picturesOf({ name })}>
        {pictures.map(({ name: file, url, time }) => (
          <li key={file}>
            <img
              src={url}
              alt={time === undefined ? file : strings.atTime({ time: clock(time, true) })}
              crossOrigin="anonymous"
            />
            {time !== undefined && <span class="soft small numbers">{clock(time, true)}</span>}
          </li>
        ))}
      </ul>
      {count > MAX_PICTURES && <p class="soft small">{strings.firstShown({ limit: MAX_PICTURES, count })}</p>}
    </>
  );
}

function usePictures(output: Output): SeriesPicture[] {
  const [pictures, setPictures] = useState<SeriesPicture[]>([]);
  useEffect(() => {
    const objectUrls: string[] = [];
    const local = new Map(filesOf(output).map(({ name, file }) => [name, file]));
    const pictureFiles = (output.source.files ?? []).filter(isPicture).slice(0, MAX_PICTURES);
    setPictures(
      pictureFiles.map(({ url, time }) => {
        const name = url.replace(/[?#].*$/, "").replace(/^.*\//, "");
        const file = local.get(name);
        if (!file) return { name, url, time };
        const objectUrl = URL.createObjectURL(file);
        objectUrls.push(objectUrl);
        return { name, url: objectUrl, time };
      }),
    );
    return () => {
      for (const url of objectUrls) URL.revokeObjectURL(url);
    };
  }, [output]);
  return pictures;
}

function isPicture({ mime }: NonNullable<Source["files"]>[number]): boolean {
  return mime.startsWith("image/");
}

const CopyDialog = lazy(async () => ({ default: (await import("./copy-dialog.tsx")).CopyDialog }));
const S3Dialog = lazy(async () => ({ default: (await import("./s3-dialog.tsx")).S3Dialog }));

function TakeAlong({ item, output, url }: { item: Item; output: Output; url: string }) {
  const { queue } = useWorkbench();
  const [dialog, setDialog] = useState<"copy" | "s3" | null>(null);
  const operation = useOperation({ outlives: true });
  const close = () => setDialog(null);
  const { source } = output;
  const isPlain = !isFolder(source) && filesOf(output).length > 0;
  const download = () =>
    operation.begin(async (watch) => ((await downloadOne(item, queue, watch)) ? strings.fileReady : null));
  return (
    <>
      <div class="row">
        {isPlain ? (
          <a class="button primary" href={url} download={outputName(item.name, source, item.naming)}>
            <Icon name="download" />
            {strings.download}
          </a>
        ) : (
          <button type="button" class="primary" onClick={download} disabled={operation.progress !== null}>
            <Icon name="download" />
            {isFolder(source) ? strings.downloadAsZip : strings.download}
          </button>
        )}
        <button type="button" onClick={() => setDialog("s3")}>
          <Icon name="upload" />
          {strings.sendToS3}
        </button>
        <button type="button" onClick={() => setDialog("copy")}>
          <Icon name="copy" />
          {strings.copyAsCode}
        </button>
      </div>
      <OperationView operation={operation} label={strings.saving} />
      <Suspense fallback={null}>
        {dialog === "copy" && <CopyDialog item={item} onClose={close} />}
        {dialog === "s3" && <S3Dialog item={item} output={output} onClose={close} />}
      </Suspense>
    </>
  );
}
