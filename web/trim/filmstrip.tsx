import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawDecoded, drawFrames } from "./draw-frames.ts";
import type { TakeFrame } from "./use-media.ts";

const MOST = 12;
// Each one is a job for the core.
const MOST_DECODED = 6;
// Narrower frames show nothing.
const NARROWEST = 48;

/** A row of a dozen frames of a video, fewer on narrow screens, that appear one by one. */
export function Filmstrip({
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
        Math.min(frame ? MOST_DECODED : MOST, Math.floor((row.current?.clientWidth ?? 0) / NARROWEST)),
      ),
    );
  }, []);
  useEffect(() => {
    const canvases = [...(row.current?.querySelectorAll("canvas") ?? [])];
    if (canvases.length === 0) return;
    const controller = new AbortController();
    const drawn = frame
      ? drawDecoded(frame, canvases, duration, controller.signal)
      : drawFrames(url ?? "", canvases, duration, controller.signal);
    drawn.catch(onFault);
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
