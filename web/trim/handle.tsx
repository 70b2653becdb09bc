import { useRef } from "preact/hooks";
import { clock } from "../words/quantities.ts";
import { type Mark, snap, type Timeline, timeByKey } from "./timeline.ts";

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
