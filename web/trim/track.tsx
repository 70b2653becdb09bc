import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Source } from "../../src/index.ts";
import { presentFrame, releasePlayer, waitForEvent } from "../ui/media.ts";
import { clock } from "../words/quantities.ts";
import type { Media, Playback, TakeFrame } from "./media.ts";
import * as strings from "./strings.ts";
import { type Mark, snap, type Timeline, timeByKey } from "./timeline.ts";

// Drawing a waveform decodes all of the sound.
const MAX_WAVEFORM_BYTES = 100_000_000;
const MAX_WAVEFORM_SECONDS = 1800;
const MARKS = [0, 0.25, 0.5, 0.75, 1] as const;

/** The file from beginning to end with handles on it; pressing it moves the player's time. */
export function Track({
  media,
  timeline,
  source,
  children,
}: {
  media: Media;
  timeline: Timeline;
  source: Source;
  children: ComponentChildren;
}) {
  const { url, frame, playback, fault } = media;
  const { duration } = timeline;
  const [undrawn, setUndrawn] = useState<string | null>(null);
  const isLarge = duration > MAX_WAVEFORM_SECONDS || (source.filesize ?? 0) > MAX_WAVEFORM_BYTES;
  const isDrawn = url !== null && undrawn !== url;
  const isSound = source.kind === "audio";
  const seek = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - left) / Math.max(1, width);
    playback.seek(Math.max(0, Math.min(1, share)) * duration);
  };
  return (
    <div class="timeline">
      <div class="track">
        <div
          class="strip"
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            seek(event);
          }}
          onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && seek(event)}
        >
          {(isDrawn || frame) && !isSound && (
            <Filmstrip url={url} frame={frame} duration={duration} onFault={() => setUndrawn(url)} />
          )}
          {isDrawn && isSound && !isLarge && (
            <Waveform url={url} duration={duration} onFault={() => setUndrawn(url)} />
          )}
        </div>
        {children}
        {url !== null && <Playhead playback={playback} duration={duration} />}
      </div>
      <div class="marks small soft numbers" aria-hidden="true">
        {MARKS.map((share) => (
          <span key={share}>{clock(duration * share, duration < 20)}</span>
        ))}
      </div>
      {(fault ?? lineOf(isSound, isLarge, url !== null && !isDrawn)) && (
        <p class="small soft">{fault ?? lineOf(isSound, isLarge, url !== null && !isDrawn)}</p>
      )}
    </div>
  );
}

function lineOf(isSound: boolean, isLarge: boolean, isUndrawn: boolean): string | null {
  if (isSound && isLarge) return strings.tooLongForWaveform;
  if (!isUndrawn) return null;
  return isSound ? strings.waveformNotDrawn : strings.picturesNotDrawn;
}

function Playhead({ playback, duration }: { playback: Playback; duration: number }) {
  return <span class="playhead" style={{ "--at": Math.min(1, playback.time.value / duration) }} />;
}

const MAX_FRAMES = 12;
const MAX_DECODED_FRAMES = 6;
const MIN_FRAME_WIDTH = 48;

function Filmstrip({
  url,
  frame,
  duration,
  onFault,
}: {
  /** Null when the browser cannot show it and `frame` decodes. */
  url: string | null;
  frame: TakeFrame | null;
  duration: number;
  onFault: () => void;
}) {
  const row = useRef<HTMLDivElement>(null);
  const [count, setCount] = useState(0);
  useLayoutEffect(() => {
    setCount(
      Math.max(
        3,
        Math.min(
          frame ? MAX_DECODED_FRAMES : MAX_FRAMES,
          Math.floor((row.current?.clientWidth ?? 0) / MIN_FRAME_WIDTH),
        ),
      ),
    );
  }, []);
  useEffect(() => {
    const canvases = [...(row.current?.querySelectorAll("canvas") ?? [])];
    if (canvases.length === 0) return;
    const controller = new AbortController();
    const image = frame
      ? drawDecoded(frame, canvases, duration, controller.signal)
      : drawFrames(url ?? "", canvases, duration, controller.signal);
    image.catch(onFault);
    return () => controller.abort();
  }, [url, frame, duration, count]);
  return (
    <div class="filmstrip" ref={row} aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <canvas key={index} />
      ))}
    </div>
  );
}

/** The waveform of a sound; decodes the whole file, which must not be large. */
function Waveform({ url, duration, onFault }: { url: string; duration: number; onFault: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const controller = new AbortController();
    if (place.current) draw(place.current, url, duration, controller.signal, onFault).catch(onFault);
    return () => controller.abort();
  }, [url, duration]);
  return <div class="waveform" ref={place} aria-hidden="true" />;
}

async function draw(
  place: HTMLElement,
  url: string,
  duration: number,
  signal: AbortSignal,
  onFault: () => void,
): Promise<void> {
  const { default: WaveSurfer } = await import("wavesurfer.js");
  if (signal.aborted) return;
  const box = document.createElement("div");
  const colors = () => {
    const { color } = getComputedStyle(place);
    return { waveColor: color, progressColor: color };
  };
  const wave = WaveSurfer.create({
    ...colors(),
    container: box,
    url,
    duration,
    height: place.clientHeight,
    barWidth: 2,
    barGap: 1,
    barRadius: 1,
    barMinHeight: 1,
    cursorWidth: 0,
    interact: false,
    normalize: true,
  });
  wave.on("error", () => signal.aborted || onFault());
  adoptStyle(box);
  place.append(box);
  const recolor = () => wave.setOptions({ ...wave.options, ...colors() });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor, { signal });
  const theme = new MutationObserver(recolor);
  theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => {
    theme.disconnect();
    wave.destroy();
    box.remove();
  });
}

// The page's policy forbids style elements; a constructed style sheet is allowed.
function adoptStyle(box: HTMLElement): void {
  const root = box.firstElementChild?.shadowRoot;
  const style = root?.querySelector("style");
  if (!root || !style) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style.textContent ?? "");
  root.adoptedStyleSheets = [sheet];
  style.remove();
}

/**
 * Draws frames of a video into canvases, one after the other, evenly spread over its duration; stops when `signal` aborts.
 * Rejects when the browser cannot play it, or plays it without pictures.
 */
async function drawFrames(
  url: string,
  canvases: readonly HTMLCanvasElement[],
  duration: number,
  signal: AbortSignal,
): Promise<void> {
  const video = document.createElement("video");
  video.muted = true;
  video.preload = "auto";
  if (!url.startsWith("blob:")) video.crossOrigin = "anonymous";
  try {
    await presentFrame(video, () => {
      video.src = url;
      return waitForEvent(video, "loadeddata", signal);
    });
    for (const [index, canvas] of canvases.entries()) {
      await presentFrame(video, () => {
        video.currentTime = ((index + 0.5) / canvases.length) * duration;
        return waitForEvent(video, "seeked", signal);
      });
      cover(canvas, video, video.videoWidth, video.videoHeight);
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    releasePlayer(video);
  }
}

async function drawDecoded(
  decode: (at: number, signal: AbortSignal) => Promise<Blob>,
  canvases: readonly HTMLCanvasElement[],
  duration: number,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, canvas] of canvases.entries()) {
    try {
      const bitmap = await createImageBitmap(
        await decode(((index + 0.5) / canvases.length) * duration, signal),
      );
      cover(canvas, bitmap, bitmap.width, bitmap.height);
      bitmap.close();
    } catch (thrown) {
      if (signal.aborted) return;
      throw thrown;
    }
  }
}

function cover(canvas: HTMLCanvasElement, picture: CanvasImageSource, wide: number, high: number): void {
  if (wide === 0 || high === 0) throw new Error("There are no pictures.");
  canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
  canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
  const scale = Math.max(canvas.width / wide, canvas.height / high);
  const [width, height] = [wide * scale, high * scale];
  canvas
    .getContext("2d")
    ?.drawImage(picture, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
}

interface Grip {
  pointer: number;
  /** Distance in pixels from the time to where the handle was grabbed. */
  offset: number;
  isMoved: boolean;
}

/** A time on the track, movable by mouse, touch and keyboard. `onMove` also says whether the move is finished. */
export function Handle({
  mark,
  label,
  time,
  reach,
  timeline,
  onMove,
  onUse,
}: {
  mark: Mark;
  label: string;
  time: number;
  reach: [number, number];
  timeline: Timeline;
  onMove: (time: number, isDone: boolean) => void;
  onUse: () => void;
}) {
  const grip = useRef<Grip | null>(null);
  const timeAt = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const track = event.currentTarget.parentElement?.getBoundingClientRect();
    if (!track) return time;
    const share = (event.clientX - (grip.current?.offset ?? 0) - track.left) / Math.max(1, track.width);
    return Math.max(reach[0], Math.min(reach[1], snap(share * timeline.duration, timeline)));
  };
  const release = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    if (grip.current?.pointer !== event.pointerId) return;
    // A cancelled pointer reports no position.
    if (grip.current.isMoved) onMove(event.type === "pointercancel" ? time : timeAt(event), true);
    grip.current = null;
  };
  return (
    <div
      class={`handle ${mark}`}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-orientation="horizontal"
      aria-valuemin={reach[0]}
      aria-valuemax={reach[1]}
      aria-valuenow={time}
      aria-valuetext={clock(time, true)}
      style={{ "--at": time / timeline.duration }}
      onFocus={onUse}
      onKeyDown={(event) => {
        const next = timeByKey(event, time, reach);
        if (next === null) return;
        event.preventDefault();
        if (next !== time) onMove(next, true);
      }}
      onPointerDown={(event) => {
        if (event.button !== 0 || grip.current !== null) return;
        const track = event.currentTarget.parentElement?.getBoundingClientRect();
        if (!track) return;
        const offset = event.clientX - track.left - (time / timeline.duration) * track.width;
        grip.current = { pointer: event.pointerId, offset, isMoved: false };
        event.currentTarget.setPointerCapture(event.pointerId);
        event.currentTarget.focus({ preventScroll: true });
      }}
      onPointerMove={(event) => {
        if (grip.current?.pointer !== event.pointerId) return;
        const next = timeAt(event);
        if (next === time) return;
        grip.current.isMoved = true;
        onMove(next, false);
      }}
      onPointerUp={release}
      onPointerCancel={release}
    />
  );
}
