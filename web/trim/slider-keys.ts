import { roundTime } from "./parse-time.ts";

// In seconds; the usual steps of sliders.
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -0.1,
  ArrowDown: -0.1,
  ArrowRight: 0.1,
  ArrowUp: 0.1,
  PageDown: -10,
  PageUp: 10,
};

/** The properties of a keyboard event that determine a slider's move. */
export type SliderKey = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "altKey" | "metaKey">;

/**
 * Returns the time that a key moves a slider to: arrows move a tenth of a second, with Shift a second, the Page keys ten
 * seconds, Home and End to the first and last time. Null for all other keys.
 */
export function timeByKey(event: SliderKey, time: number, [first, last]: [number, number]): number | null {
  const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
  if (ctrlKey || altKey || metaKey) return null;
  if (key === "Home") return first;
  if (key === "End") return last;
  const step = STEPS[key];
  if (step === undefined) return null;
  const times = shiftKey && key.startsWith("Arrow") ? 10 : 1;
  return roundTime(Math.max(first, Math.min(last, time + step * times)));
}
