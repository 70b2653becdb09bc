const SIGNS = {
  add: "M12 5v14M5 12h14",
  audio: "M9 18V6l10-2v12M9 18a3 2.5 0 1 1-6 0 3 2.5 0 0 1 6 0zM19 16a3 2.5 0 1 1-6 0 3 2.5 0 0 1 6 0z",
  cancel: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7",
  chevron: "M7 10l5 5 5-5",
  clock: "M12 7v5l3 2M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z",
  compare: "M9 7l-5 5 5 5M15 7l5 5-5 5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  device: "M4 5h16v11H4zM2 20h20",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  edge: "M7 18a4.5 4.5 0 0 1-.5-9 6 6 0 0 1 11.3 1.2A4 4 0 0 1 17.500 18z",
  fault: "M12 8v5M12 16.500v.1M12 3l10 17.500H2z",
  folder: "M3 6h6l2 2.500h10V19H3z",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 2.500-2.500L20 17M15.500 9.500v.1",
  info: "M12 11v5M12 8v.1M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z",
  key: "M14 10a4 4 0 1 1-2.800-3.800L13.500 8.500M11 13l-7 7v-3l1.500-1.500",
  options: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  pause: "M8 5v14M16 5v14",
  play: "M8 5l11 7-11 7z",
  refresh: "M20 12a8 8 0 1 1-2.500-5.800M20 4v4h-4",
  remove: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  step_back: "M17 6l-8 6 8 6zM6 6v12",
  step_forth: "M7 6l8 6-8 6zM18 6v12",
  stream: "M4 6h16v10H4zM8 20h8M10.500 8.500l4 2.500-4 2.500z",
  upload: "M12 16V5M7 9l5-5 5 5M5 20h14",
  video: "M3 6h12v12H3zM15 10.500l6-3.500v10l-6-3.500z",
} as const;

export type IconName = keyof typeof SIGNS;

/** An icon beside text, which it never replaces: hidden from screen readers. `size` is in pixels, 20 by default. */
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={SIGNS[name]} />
    </svg>
  );
}
