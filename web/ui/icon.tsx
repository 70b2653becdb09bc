import { type IconName, SIGNS } from "./signs.ts";

export type { IconName };

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
    >
      <path d={SIGNS[name]} />
    </svg>
  );
}
