import { FIRST_SIGNS } from "./first-signs.ts";

/** The SVG paths of all icons, in a square of 20 units, drawn as strokes. */
export const SIGNS = {
  ...FIRST_SIGNS,
  check: "M4 10.5l4 4 8-9",
  chevron: "M5.5 8l4.5 4.5L14.5 8",
  clock: "M10 6v4l2.5 2M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0z",
  compare: "M10 2.5v15M7 7l-3 3 3 3M13 7l3 3-3 3",
  copy: "M9 7h6a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zM13 7V5a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2v6a2 2 0 0 0 2 2h2",
  down: "M10 4v12M5 11l5 5 5-5",
  download: "M10 3v9m-4-4l4 4 4-4M4 16.5h12",
  edge: "M5.8 15a3.8 3.8 0 0 1-.4-7.6 5 5 0 0 1 9.5 1A3.3 3.3 0 0 1 14.5 15z",
  fault: "M10 3L1.8 16.5h16.4zM10 8v4m0 2.2v.2",
  info: "M10 9.5V14M10 6.5v.1M17.5 10a7.5 7.5 0 1 1-15 0 7.5 7.5 0 0 1 15 0z",
  key: "M10 13.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM9 11l7.5-7.5M13 7l2.5 2.5",
  more: "M4.5 10v.1M10 10v.1M15.5 10v.1",
  options: "M3 6h8m4 0h2M3 14h2m4 0h8M15 6a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM9 14a2 2 0 1 1-4 0 2 2 0 0 1 4 0z",
  pause: "M6.5 4.5v11M13.5 4.5v11",
  pen: "M12.5 4.5l3 3L7 16H4v-3z",
  play: "M6 4v12l10-6z",
  remove: "M3.5 5.5h13M8 5.5v-2h4v2M5 5.5L6 17h8l1-11.5",
  step_back: "M14.5 5L8 10l6.5 5zM5 5v10",
  step_forth: "M5.5 5L12 10l-6.5 5zM15 5v10",
  undo: "M7.5 4L4 7.5 7.5 11M4 7.5h7.5a4.5 4.5 0 0 1 0 9H8",
  up: "M10 16V4M5 9l5-5 5 5",
  video:
    "M4.5 4h11a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-11a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM6 4v12M14 4v12M2.5 10H6m8 0h3.5",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof SIGNS;
