import { roundTime } from "./parse-time.ts";

// As sliders are used everywhere, in seconds.
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -0.1,
  ArrowDown: -0.1,
  ArrowRight: 0.1,
  ArrowUp: 0.1,
  PageDown: -10,
  PageUp: 10,
};

/** The parts of a keyboard's event that tell where a slider goes. */
export type SliderKey = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "altKey" | "metaKey">;

/**
 * Tells to which time a key moves a slider: an arrow a tenth of a second, with Shift a second, a Page key ten seconds, Home and
 * End to the first and the last time. Null for all other keys, which are not the slider's.
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
