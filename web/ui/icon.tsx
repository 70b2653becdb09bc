import { Drawing } from "./first-icon.tsx";
import { type IconName, SIGNS } from "./signs.ts";

export type { IconName };

/** An icon beside text, which it never replaces: hidden from screen readers. `size` is in pixels, 18 by default. */
export function Icon({ name, size }: { name: IconName; size?: number }) {
  return <Drawing path={SIGNS[name]} size={size} />;
}
