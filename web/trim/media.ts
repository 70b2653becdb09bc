import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { MediaInput, Source } from "../../src/index.ts";
import { roundTime } from "../../src/media/clock.ts";
import { coreFrame } from "../queue/thumbnail.ts";
import { releasePlayer, useMediaUrl } from "../ui/media.ts";
import { useWorkbench } from "../workbench.ts";
import * as strings from "./strings.ts";
import { type Timeline, timelineOf } from "./timeline.ts";

export type TakeFrame = (at: number, signal: AbortSignal) => Promise<Blob>;

/** A file being trimmed: its timeline, its playback, and what cannot be shown of it. */
export interface Media {
  /** URL for the player; null until it is known that the file can be played. */
  readonly url: string | null;
  /** The timeline; null until the duration is known. */
  readonly timeline: Timeline | null;
  readonly playback: Playback;
  /** Why it cannot be played; null when it can. */
  readonly fault: string | null;
  /** Decodes the picture at a time, for a file that the browser cannot show; null when the browser can, or nothing can. */
  readonly frame: TakeFrame | null;
  /** Reports that it cannot be played after all. */
  onBroken(): void;
  /** Reports the duration that the player found, in seconds. */
  onDuration(duration: number): void;
}

/** Opens a file for the lifetime of the component. */
export function useMedia(input: MediaInput, source: Source): Media {
  const { url, fault } = useMediaUrl(input);
  const [broken, setBroken] = useState<string | null>(null);
  const [playerDuration, setPlayerDuration] = useState<number | null>(null);
  const playback = useMemo(createPlayback, []);
  const [times, setTimes] = useState<number[] | null>(null);
  const { device } = useWorkbench();
  const { kind, fps, duration = playerDuration } = source;
  useEffect(() => {
    const controller = new AbortController();
    setTimes(null);
    if (kind !== "audio")
      readFrameTimes(input, source, controller.signal).then(
        (read) => controller.signal.aborted || setTimes(read),
        () => {},
      );
    return () => controller.abort();
  }, [input, kind, source]);
  const timeline = useMemo(
    () => (duration ? timelineOf({ kind, ...(fps !== undefined && { fps }) }, duration, times) : null),
    [kind, fps, duration, times],
  );
  const isBroken = url !== null && broken === url;
  const isDecoded = isBroken && kind !== "audio" && typeof input !== "string";
  const frame = useMemo(
    () =>
      isDecoded && typeof input !== "string"
        ? (at: number, signal: AbortSignal) => coreFrame(device, input, { at }, signal)
        : null,
    [isDecoded, input, device],
  );
  return {
    url: isBroken ? null : url,
    timeline,
    playback,
    frame,
    fault: fault ?? (isBroken ? wordsOf(input, kind) : null),
    onBroken: () => setBroken(url),
    onDuration: (seconds) => Number.isFinite(seconds) && setPlayerDuration(seconds),
  };
}

function wordsOf(input: MediaInput, kind: Source["kind"]): string {
  if (typeof input === "string")
    return kind === "audio" ? strings.soundNotPlayedFromUrl : strings.notShownFromUrl;
  return kind === "audio" ? strings.soundNotPlayed : strings.decodedPictures;
}

const MAX_FRAMES = 200_000;
const WITHIN_MS = 5_000;

/**
 * Returns the start times of the pictures in a visitor's file, in seconds and in order, so that a step is one picture even
 * at a variable frame rate. Null for a URL, and when reading takes more than a few seconds.
 */
async function readFrameTimes(
  input: MediaInput,
  source: Source,
  signal: AbortSignal,
): Promise<number[] | null> {
  if (typeof input === "string") return null;
  const { ALL_FORMATS, BlobSource, EncodedPacketSink, Input } = await import("mediabunny");
  const limit = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]);
  const file = new Input({
    formats: ALL_FORMATS,
    source: new BlobSource("getFile" in input ? await input.getFile() : input),
  });
  try {
    const track =
      (await file.getVideoTracks())[source.video_track ?? 0] ?? (await file.getPrimaryVideoTrack());
    if (!track) return null;
    const starts = await Promise.all((await file.getTracks()).map((each) => each.getFirstTimestamp()));
    const origin = Math.min(...starts);
    const times: number[] = [];
    for await (const packet of new EncodedPacketSink(track).packets(undefined, undefined, {
      metadataOnly: true,
    })) {
      if (limit.aborted || times.length === MAX_FRAMES) return null;
      times.push(roundTime(Math.max(0, packet.timestamp - origin)));
    }
    return times.length > 0 ? times.sort((a, b) => a - b) : null;
  } finally {
    file.dispose();
  }
}

/** A player whose time can be read and set. */
export interface Playback {
  /** Seconds into the file. */
  readonly time: ReadonlySignal<number>;
  /** Whether it is playing a range and will stop at its end. */
  readonly isPlaying: ReadonlySignal<boolean>;
  /** Attaches an element, as a `ref` provides it; null detaches it. */
  attach(element: HTMLMediaElement | null): void;
  /** Seeks to a time; of many in a row, only the last is guaranteed. */
  seek(time: number): void;
  play(begin: number, end: number): void;
  pause(): void;
}

const EVENTS = ["loadedmetadata", "timeupdate", "seeking", "seeked", "playing", "pause"] as const;

function createPlayback(): Playback {
  const time = signal(0);
  const isPlaying = signal(false);
  let element: HTMLMediaElement | null = null;
  let seekTarget: number | null = null;
  let stopAt: number | null = null;
  let frame = 0;

  function sync(event?: Event): void {
    if (!element) return;
    if (seekTarget !== null && element.readyState > 0 && !element.seeking) {
      element.currentTime = seekTarget;
      seekTarget = null;
    }
    time.value = seekTarget ?? element.currentTime;
    if (event?.type === "pause") stopAt = null;
    const isSought = event?.type === "seeking" && seekTarget === null;
    if (isSought && stopAt !== null && element.currentTime > stopAt) stopAt = null;
    if (stopAt !== null && !element.seeking && element.currentTime >= stopAt) {
      const end = stopAt;
      stopAt = null;
      element.pause();
      element.currentTime = end;
    }
    isPlaying.value = stopAt !== null;
    cancelAnimationFrame(frame);
    if (!element.paused) frame = requestAnimationFrame(() => sync());
  }

  const seek = (to: number) => {
    seekTarget = to;
    time.value = to;
    sync();
  };
  return {
    time,
    isPlaying,
    attach(next) {
      cancelAnimationFrame(frame);
      for (const name of EVENTS) element?.removeEventListener(name, sync);
      if (element) releasePlayer(element);
      element = next;
      for (const name of EVENTS) element?.addEventListener(name, sync);
      stopAt = null;
      sync();
    },
    seek,
    play(begin, end) {
      stopAt = null;
      seek(begin);
      stopAt = end;
      element?.play().catch(() => {
        stopAt = null;
        sync();
      });
      sync();
    },
    pause: () => element?.pause(),
  };
}
