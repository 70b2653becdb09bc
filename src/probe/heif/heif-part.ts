import type { Size } from "../../plan/size.ts";
import type { Box } from "../isobmff/boxes.ts";

/** The visible part of a picture that has more pixels, both as they are shown: turned and mirrored. */
export interface CleanPart extends Size {
  x: number;
  y: number;
  whole: Size;
}

/** Returns the visible part of a picture from its properties, which apply in their order; null where they say none, or an impossible one. */
export function cleanPart(view: DataView, properties: readonly Box[]): CleanPart | null {
  const ispe = properties.find(({ kind }) => kind === "ispe");
  if (!ispe) return null;
  let part: CleanPart | null = null;
  let whole: Size = { width: view.getUint32(ispe.start + 4), height: view.getUint32(ispe.start + 8) };
  for (const { kind, start } of properties) {
    if (kind === "clap") part = cut(view, start, whole);
    if (kind === "irot") {
      for (let quarters = view.getUint8(start) & 3; quarters > 0; quarters--) {
        const turned = { width: whole.height, height: whole.width };
        part &&= {
          ...{ x: part.y, y: whole.width - part.x - part.width },
          ...{ width: part.height, height: part.width, whole: turned },
        };
        whole = turned;
      }
    }
    if (kind === "imir" && part) {
      part =
        view.getUint8(start) & 1
          ? { ...part, x: whole.width - part.x - part.width }
          : { ...part, y: whole.height - part.y - part.height };
    }
  }
  return part;
}

// Sizes, and how far the centers lie apart, are fractions.
function cut(view: DataView, start: number, whole: Size): CleanPart | null {
  const [width, height] = [0, 8].map((at) =>
    Math.round(view.getUint32(start + at) / view.getUint32(start + at + 4)),
  ) as [number, number];
  const [right, down] = [16, 24].map((at) => view.getInt32(start + at) / view.getUint32(start + at + 4)) as [
    number,
    number,
  ];
  const x = Math.round(right + (whole.width - width) / 2);
  const y = Math.round(down + (whole.height - height) / 2);
  const fits = x >= 0 && y >= 0 && x + width <= whole.width && y + height <= whole.height;
  return width > 0 && height > 0 && fits ? { x, y, width, height, whole } : null;
}
