import { FIRST_SIGNS, type FirstIconName } from "./first-signs.ts";

/** An icon of the first load; see `Icon`. */
export function FirstIcon({ name, size }: { name: FirstIconName; size?: number }) {
  return <Drawing path={FIRST_SIGNS[name]} size={size} />;
}

/** Draws the path of an icon. */
export function Drawing({ path, size = 18 }: { path: string; size?: number | undefined }) {
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
      <path d={path} />
    </svg>
  );
}
