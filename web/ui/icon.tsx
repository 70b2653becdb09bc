const SIGNS = {
  add: "M10 4v12M4 10h12",
  audio:
    "M8 14.5V4l8-1.5V13M8 14.5a2.2 2.2 0 1 1-4.4 0 2.2 2.2 0 0 1 4.4 0zM16 13a2.2 2.2 0 1 1-4.4 0 2.2 2.2 0 0 1 4.4 0z",
  cancel: "M5 5l10 10M15 5L5 15",
  check: "M4 10.5l4 4 8-9",
  chevron: "M5.5 8l4.5 4.5L14.5 8",
  clock: "M10 6v4l2.5 2M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0z",
  compare: "M10 2.5v15M7 7l-3 3 3 3M13 7l3 3-3 3",
  copy: "M9 7h6a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zM13 7V5a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2v6a2 2 0 0 0 2 2h2",
  device: "M5 4h10a1.5 1.5 0 0 1 1.5 1.5V13h-13V5.5A1.5 1.5 0 0 1 5 4zM2 16h16",
  download: "M10 3v9m-4-4l4 4 4-4M4 16.5h12",
  edge: "M5.8 15a3.8 3.8 0 0 1-.4-7.6 5 5 0 0 1 9.5 1A3.3 3.3 0 0 1 14.5 15z",
  fault: "M10 3L1.8 16.5h16.4zM10 8v4m0 2.2v.2",
  folder:
    "M2.5 5.5A1.5 1.5 0 0 1 4 4h3.5l2 2H16a1.5 1.5 0 0 1 1.5 1.5v7A1.5 1.5 0 0 1 16 16H4a1.5 1.5 0 0 1-1.5-1.5z",
  image:
    "M4.5 3.5h11a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-11a2 2 0 0 1-2-2v-9a2 2 0 0 1 2-2zM3 14.5l4-3.5 3 2.5 3.5-4 4 4.5M7 7.5v.1",
  info: "M10 9.5V14M10 6.5v.1M17.5 10a7.5 7.5 0 1 1-15 0 7.5 7.5 0 0 1 15 0z",
  key: "M10 13.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM9 11l7.5-7.5M13 7l2.5 2.5",
  options: "M3 6h8m4 0h2M3 14h2m4 0h8M15 6a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM9 14a2 2 0 1 1-4 0 2 2 0 0 1 4 0z",
  pause: "M6.5 4.5v11M13.5 4.5v11",
  play: "M6 4v12l10-6z",
  refresh: "M16 10a6 6 0 1 1-2-4.5M14.5 2v4h-4",
  remove: "M3.5 5.5h13M8 5.5v-2h4v2M5 5.5L6 17h8l1-11.5",
  step_back: "M14.5 5L8 10l6.5 5zM5 5v10",
  step_forth: "M5.5 5L12 10l-6.5 5zM15 5v10",
  stream:
    "M6.8 13.2a4.5 4.5 0 0 1 0-6.4m6.4 0a4.5 4.5 0 0 1 0 6.4M4.3 15.7a8 8 0 0 1 0-11.4m11.4 0a8 8 0 0 1 0 11.4M11.6 10a1.6 1.6 0 1 1-3.2 0 1.6 1.6 0 0 1 3.2 0z",
  upload: "M10 12V3M6 7l4-4 4 4M4 16.5h12",
  video:
    "M4.5 4h11a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-11a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM6 4v12M14 4v12M2.5 10H6m8 0h3.5",
} as const;

export type IconName = keyof typeof SIGNS;

/** An icon beside text, which it never replaces: hidden from screen readers. `size` is in pixels, 18 by default. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={SIGNS[name]} />
    </svg>
  );
}
