import type { CSSProperties } from "preact";
import { type Fit, type Position, type Source, type View, viewOf } from "../../src/index.ts";
import type { AnyOptions } from "./choices.ts";

/** The styles that show a view in a box: the part that is kept, the turned picture around it, and the picture itself. */
export interface PlacedView {
  part: CSSProperties;
  whole: CSSProperties;
  media: CSSProperties;
}

interface Size {
  width: number;
  height: number;
}

const percent = (share: number) => `${share * 100}%`;

/** Places what is turned, mirrored or cut in a box of the output's shape; null for a picture as it is. */
export function placeView(view: View, box: Size, fit: Fit, position: Position): PlacedView | null {
  const { turn, mirror, crop, turned, shown } = view;
  if (turn === 0 && !mirror && !crop) return null;
  const kept = crop ?? { x: 0, y: 0, ...turned };
  const sideways = turn % 180 !== 0;
  return {
    part: within(box, shown, fit, position),
    whole: {
      left: percent(-kept.x / kept.width),
      top: percent(-kept.y / kept.height),
      width: percent(turned.width / kept.width),
      height: percent(turned.height / kept.height),
    },
    media: {
      position: "absolute",
      left: "50%",
      top: "50%",
      maxWidth: "none",
      objectFit: "fill",
      width: sideways ? "100cqh" : "100%",
      height: sideways ? "100cqw" : "100%",
      transform: `translate(-50%, -50%) ${mirror ? "scaleX(-1) " : ""}rotate(${turn}deg)`,
    },
  };
}

function within(box: Size, shown: Size, fit: Fit, position: Position): CSSProperties {
  const [across, down] = [box.width / shown.width, box.height / shown.height];
  const scale = fit === "cover" ? Math.max(across, down) : Math.min(across, down);
  const width = fit === "fill" ? 1 : scale / across;
  const height = fit === "fill" ? 1 : scale / down;
  const share = (start: string, end: string) =>
    position.includes(start) ? 0 : position.includes(end) ? 1 : 0.5;
  return {
    left: percent((1 - width) * share("left", "right")),
    top: percent((1 - height) * share("top", "bottom")),
    width: percent(width),
    height: percent(height),
  };
}

/** Returns what the options show of a source's pictures; null while they are invalid, and when their size is unknown. */
export function checkedView(source: Source, options: AnyOptions): View | null {
  try {
    return viewOf(source, options);
  } catch {
    return null;
  }
}
