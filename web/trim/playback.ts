import { type ReadonlySignal, signal } from "@preact/signals";
import { releasePlayer } from "../ui/media.ts";

/** A player whose time can be read and set. */
export interface Playback {
  /** Seconds into the file. */
  readonly time: ReadonlySignal<number>;
  /** Whether it is playing a stretch and will stop at its end. */
  readonly isPlaying: ReadonlySignal<boolean>;
  /** Attaches an element, as a `ref` provides it; null detaches it. */
  attach(element: HTMLMediaElement | null): void;
  /** Seeks to a time; of many in a row, only the last is guaranteed. */
  seek(time: number): void;
  play(begin: number, end: number): void;
  pause(): void;
}

const EVENTS = ["loadedmetadata", "timeupdate", "seeking", "seeked", "playing", "pause"] as const;

/** Creates a {@link Playback} without an element. */
export function createPlayback(): Playback {
  const time = signal(0);
  const isPlaying = signal(false);
  let element: HTMLMediaElement | null = null;
  let wanted: number | null = null;
  let stopAt: number | null = null;
  let frame = 0;

  function look(event?: Event): void {
    if (!element) return;
    if (wanted !== null && element.readyState > 0 && !element.seeking) {
      element.currentTime = wanted;
      wanted = null;
    }
    time.value = wanted ?? element.currentTime;
    if (event?.type === "pause") stopAt = null;
    // A seek beyond the end with the player's own controls means to hear more.
    const isSought = event?.type === "seeking" && wanted === null;
    if (isSought && stopAt !== null && element.currentTime > stopAt) stopAt = null;
    if (stopAt !== null && !element.seeking && element.currentTime >= stopAt) {
      const end = stopAt;
      stopAt = null;
      element.pause();
      element.currentTime = end;
    }
    isPlaying.value = stopAt !== null;
    cancelAnimationFrame(frame);
    if (!element.paused) frame = requestAnimationFrame(() => look());
  }

  const seek = (to: number) => {
    wanted = to;
    time.value = to;
    look();
  };
  return {
    time,
    isPlaying,
    attach(next) {
      cancelAnimationFrame(frame);
      for (const name of EVENTS) element?.removeEventListener(name, look);
      if (element) releasePlayer(element);
      element = next;
      for (const name of EVENTS) element?.addEventListener(name, look);
      stopAt = null;
      look();
    },
    seek,
    play(begin, end) {
      stopAt = null;
      seek(begin);
      stopAt = end;
      // Unplayable media report so in their own event.
      element?.play().catch(() => {
        stopAt = null;
        look();
      });
      look();
    },
    pause: () => element?.pause(),
  };
}
