import { useEffect, useMemo, useState } from "preact/hooks";
import type { MediaInput, Source } from "../../src/index.ts";
import { coreFrame } from "../queue/picture/core-frame.ts";
import { useMediaUrl } from "../ui/use-media-url.ts";
import { useWorkbench } from "../workbench.ts";
import { readFrameTimes } from "./frame-times.ts";
import { createPlayback, type Playback } from "./playback.ts";
import { type Timeline, timelineOf } from "./timeline.ts";

export type TakeFrame = (at: number, signal: AbortSignal) => Promise<Blob>;

/** A file being trimmed: its timeline, its playback, and what cannot be shown of it. */
export interface Media {
  /** Null when it cannot be played, and until that is known. */
  readonly url: string | null;
  /** Null until its duration is known. */
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
  const [found, setFound] = useState<number | null>(null);
  const playback = useMemo(createPlayback, []);
  const [times, setTimes] = useState<number[] | null>(null);
  const { device } = useWorkbench();
  const { kind, fps, duration = found } = source;
  useEffect(() => {
    const controller = new AbortController();
    setTimes(null);
    if (kind !== "audio")
      readFrameTimes(input, controller.signal).then(
        (read) => controller.signal.aborted || setTimes(read),
        // The average rate must do.
        () => {},
      );
    return () => controller.abort();
  }, [input, kind]);
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
    onDuration: (seconds) => Number.isFinite(seconds) && setFound(seconds),
  };
}

function wordsOf(input: MediaInput, kind: Source["kind"]): string {
  const [what, without] = kind === "audio" ? ["play", "waveform"] : ["show", "pictures"];
  if (kind !== "audio" && typeof input !== "string")
    return "This browser can't play this format. This page decodes single pictures instead.";
  const why =
    typeof input === "string"
      ? `This browser cannot ${what} it from there: its format or its server does not allow it.`
      : `This browser cannot ${what} this format.`;
  return `${why} You can set the times without ${without}.`;
}
