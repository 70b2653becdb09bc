import { useRef } from "preact/hooks";
import { clock } from "../words/quantities.ts";
import { timeByKey } from "./slider-keys.ts";
import { type Mark, snap, type Timeline } from "./timeline.ts";

/** A time on the track, to be moved by mouse, touch and keyboard. `onMove` is told whether the visitor is done or still moving. */
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
  // Where the pointer took it, in pixels from its time; null while none has it.
  const grip = useRef<number | null>(null);
  const isMoved = useRef(false);
  const timeAt = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const track = event.currentTarget.parentElement?.getBoundingClientRect();
    if (!track) return time;
    const share = (event.clientX - (grip.current ?? 0) - track.left) / Math.max(1, track.width);
    return Math.max(reach[0], Math.min(reach[1], snap(share * timeline.duration, timeline)));
  };
  const release = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    if (grip.current === null) return;
    if (isMoved.current) onMove(timeAt(event), true);
    grip.current = null;
    isMoved.current = false;
    event.currentTarget.releasePointerCapture(event.pointerId);
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
        if (event.button !== 0) return;
        const track = event.currentTarget.parentElement?.getBoundingClientRect();
        grip.current = track ? event.clientX - track.left - (time / timeline.duration) * track.width : 0;
        event.currentTarget.setPointerCapture(event.pointerId);
        event.currentTarget.focus({ preventScroll: true });
      }}
      onPointerMove={(event) => {
        if (grip.current === null) return;
        const next = timeAt(event);
        if (next === time) return;
        isMoved.current = true;
        onMove(next, false);
      }}
      onPointerUp={release}
      onPointerCancel={release}
    />
  );
}
