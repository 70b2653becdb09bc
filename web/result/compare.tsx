import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { MediaInput, Source } from "../../src/index.ts";
import type { AnyOptions } from "../options/choices.ts";
import type { Item } from "../queue/item.ts";
import { shownAt, timelineOf } from "../trim/timeline.ts";
import { Icon } from "../ui/icon.tsx";
import { releasePlayer, useMediaUrl } from "../ui/media.ts";
import { bytes, clock } from "../words/quantities.ts";
import { isFolder } from "./file-names.ts";
import * as strings from "./strings.ts";

/** One of two pictures to compare; for a video, one frame. */
export interface CompareSide {
  /** Pass the same object each time: a different one is read again. */
  readonly input: MediaInput;
  readonly source: Pick<Source, "kind" | "width" | "height" | "filesize" | "fps">;
  /** Seconds into a video. Default 0; ignored for pictures. */
  readonly time?: number;
}

/** Two pictures on top of each other, with a slider that reveals one or the other; `alt` describes them. */
function Compare({ before, after, alt }: { before: CompareSide; after: CompareSide; alt: string }) {
  const [share, setShare] = useState(50);
  const [isWhole, setIsWhole] = useState(true);
  const [scrolled, setScrolled] = useState(0);
  const frame = largerOf(before, after);
  const zoom = () => {
    setIsWhole(!isWhole);
    setScrolled(0);
  };
  return (
    <div
      class={`compare${isWhole ? "" : " exact"}`}
      style={{
        "--share": share / 100,
        "--scrolled": `${scrolled}px`,
        "--wide": frame.width,
        "--high": frame.height,
        "--dots": devicePixelRatio,
      }}
    >
      <div class="view">
        <section
          class="scroll"
          aria-label={strings.comparison({ name: alt })}
          // Scrollable content must be reachable by keyboard.
          tabIndex={isWhole ? undefined : 0}
          onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollLeft)}
        >
          <div class="stage">
            <Picture side={before} name="before" alt={alt} />
            <Picture side={after} name="after" alt={alt} />
          </div>
        </section>
        <input
          type="range"
          min={0}
          max={100}
          step="any"
          value={share}
          aria-label={strings.dividerLabel}
          aria-valuetext={strings.divider({ percent: Math.round(share) })}
          onInput={({ currentTarget }) => setShare(currentTarget.valueAsNumber)}
        />
        <span class="divider" aria-hidden="true">
          <span>
            <Icon name="compare" />
          </span>
        </span>
      </div>
      <div class="legend small">
        <Legend name="before" side={before} />
        <button type="button" class="quiet" aria-pressed={!isWhole} onClick={zoom}>
          {strings.actualSize}
        </button>
        <Legend name="after" side={after} />
      </div>
    </div>
  );
}

type SideName = "before" | "after";

function Legend({ name, side: { source } }: { name: SideName; side: CompareSide }) {
  const { width, height, filesize } = source;
  return (
    <p class={name}>
      <strong>{strings.sides[name]}</strong>
      {width && height && <span class="soft numbers">{`${width} × ${height}`}</span>}
      {filesize !== undefined && <span class="soft numbers">{bytes(filesize)}</span>}
    </p>
  );
}

function Picture({ side, name, alt }: { side: CompareSide; name: SideName; alt: string }) {
  const { url, fault } = useMediaUrl(side.input);
  const [broken, setBroken] = useState<string | null>(null);
  const label = strings.sideOf({ name: alt, side: name });
  const onError = () => setBroken(url);
  const video = useRef<HTMLVideoElement>(null);
  const { time = 0 } = side;
  const moment = shownAt("moment", time, timelineOf(side.source, Number.POSITIVE_INFINITY));
  const seek = () => {
    if (video.current) video.current.currentTime = moment;
  };
  useEffect(seek, [moment]);
  useEffect(() => {
    const player = video.current;
    return () => void (player && releasePlayer(player));
  }, [url]);
  if (fault || (url !== null && broken === url)) {
    const why = fault ?? strings.formatNotShown;
    return <p class={`layer ${name} small`}>{`${strings.sides[name]}: ${why}`}</p>;
  }
  if (url === null) return null;
  const shared = { class: `layer ${name}`, src: url, onError, ...originOf(url) };
  if (side.source.kind === "image") return <img {...shared} alt={label} />;
  return (
    <video
      key={url}
      {...shared}
      muted
      playsInline
      preload="auto"
      aria-label={label}
      ref={video}
      onLoadedMetadata={seek}
    />
  );
}

function originOf(url: string): { crossOrigin?: "anonymous" } {
  return url.startsWith("blob:") ? {} : { crossOrigin: "anonymous" };
}

function largerOf(...sides: CompareSide[]): { width: number; height: number } {
  const sizes = sides.map(({ source: { width = 0, height = 0 } }) => ({ width, height }));
  const [first] = sizes.sort((one, other) => other.width * other.height - one.width * one.height);
  return first && first.width > 0 && first.height > 0 ? first : { width: 16, height: 9 };
}

/** Returns whether an output can be compared with its input: both are one picture or video, and the input is still available. */
export function canCompare(item: Item, output: Source): boolean {
  const kinds: readonly Source["kind"][] = ["image", "video"];
  if (item.input === null || !item.source || isFolder(output)) return false;
  return kinds.includes(output.kind) && kinds.includes(item.source.kind);
}

/** Returns the time in the source of a time of its trimmed version, in seconds. */
function sourceTime({ start = 0, parts }: AnyOptions, time: number, source: Source): number {
  const { duration = Number.POSITIVE_INFINITY } = source;
  let rest = time;
  for (const part of parts ?? []) {
    const length = Math.min(part.end ?? duration, duration) - (part.start ?? 0);
    if (rest < length) return (part.start ?? 0) + rest;
    rest -= length;
  }
  return start + rest;
}

/** Compares an output with its input; for a video, at a moment that the visitor chooses. */
export function SideBySide({ item, output, url }: { item: Item; output: Source; url: string }) {
  const id = useId();
  const { input, source } = item;
  const options: AnyOptions = item.task?.options ?? {};
  const { speed = 1, concat } = options;
  const duration = output.duration ?? 0;
  const compared = concat ? Math.min(duration, source?.duration ?? duration) : duration;
  const last = Math.max(0, compared - 1 / (output.fps || 25));
  const [moment, setMoment] = useState(last / 2);
  if (input === null || !source) return null;
  const isVideo = output.kind === "video";
  const at = isVideo ? moment : 0;
  return (
    <>
      <Compare
        before={{ input, source, time: sourceTime(options, at * speed, source) }}
        after={{ input: url, source: output, time: at }}
        alt={item.name}
      />
      {isVideo && last > 0 && (
        <div class="moment">
          <label for={id}>{strings.moment}</label>
          <input
            id={id}
            type="range"
            min={0}
            max={last}
            step={1 / (output.fps || 25)}
            value={moment}
            aria-valuetext={clock(moment, true)}
            onInput={({ currentTarget }) => setMoment(currentTarget.valueAsNumber)}
          />
          <output for={id} class="numbers">
            {clock(moment, true)}
          </output>
        </div>
      )}
    </>
  );
}
