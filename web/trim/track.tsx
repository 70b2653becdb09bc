import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Source } from "../../src/index.ts";
import { clock } from "../words/quantities.ts";
import { Filmstrip } from "./filmstrip.tsx";
import type { Playback } from "./playback.ts";
import type { Timeline } from "./timeline.ts";
import type { Media } from "./use-media.ts";
import { Waveform } from "./waveform.tsx";

// Drawing a waveform decodes all of the sound.
const MOST_BYTES = 100_000_000;
const MOST_SECONDS = 1800;
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
  const isLarge = duration > MOST_SECONDS || (source.filesize ?? 0) > MOST_BYTES;
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
  if (isSound && isLarge)
    return "This file is too long to draw its waveform. You can play it and set the times.";
  if (!isUndrawn) return null;
  return isSound
    ? "This browser can't draw its waveform. You can still set the times."
    : "This browser can't draw its pictures. You can still set the times.";
}

function Playhead({ playback, duration }: { playback: Playback; duration: number }) {
  return <span class="playhead" style={{ "--at": Math.min(1, playback.time.value / duration) }} />;
}
