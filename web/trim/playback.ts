import { type ReadonlySignal, signal } from "@preact/signals";
import { letGo } from "../ui/let-go.ts";

/** A player whose time is set from outside, and read there. */
export interface Playback {
  /** Seconds in the file. */
  readonly time: ReadonlySignal<number>;
  /** True while it plays a stretch, and will stop at its end. */
  readonly isPlaying: ReadonlySignal<boolean>;
  /** Works with an element, as a `ref` gives it; null lets it go. */
  attach(element: HTMLMediaElement | null): void;
  /** Shows a time; of many in a row, only the last one for sure. */
  seek(time: number): void;
  /** Plays from one time to another. */
  play(begin: number, end: number): void;
  pause(): void;
}

const EVENTS = ["loadedmetadata", "timeupdate", "seeking", "seeked", "playing", "pause"] as const;

/** Builds a {@link Playback} that has no element yet. */
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
    // Who seeks beyond the end by the player's own controls wants to hear more.
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
      if (element) letGo(element);
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
      // What cannot be played says so by an event of its own.
      element?.play().catch(() => {
        stopAt = null;
        look();
      });
      look();
    },
    pause: () => element?.pause(),
  };
}
