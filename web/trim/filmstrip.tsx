import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawFrames } from "./draw-frames.ts";

const MOST = 12;
// Narrower frames show nothing.
const NARROWEST = 48;

/** A dozen frames of a video in a row, on narrow screens fewer; they come by and by. */
export function Filmstrip({
  url,
  duration,
  onFault,
}: {
  url: string;
  duration: number;
  onFault: () => void;
}) {
  const row = useRef<HTMLDivElement>(null);
  const [count, setCount] = useState(0);
  useLayoutEffect(() => {
    setCount(Math.max(3, Math.min(MOST, Math.floor((row.current?.clientWidth ?? 0) / NARROWEST))));
  }, []);
  useEffect(() => {
    const canvases = [...(row.current?.querySelectorAll("canvas") ?? [])];
    if (canvases.length === 0) return;
    const gone = new AbortController();
    drawFrames(url, canvases, duration, gone.signal).catch(onFault);
    return () => gone.abort();
  }, [url, duration, count]);
  return (
    <div class="filmstrip" ref={row} aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <canvas key={index} />
      ))}
    </div>
  );
}
