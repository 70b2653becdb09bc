import * as strings from "./strings.ts";

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** Formats a number of bytes with three digits, in powers of 1000: `950 kB`, `1.43 MB`. */
export function bytes(count: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)));
  const value = count / 1000 ** power;
  // 999.9 kB would otherwise become 1000 kB.
  if (power < UNITS.length - 1 && Number(value.toPrecision(3)) >= 1000) return bytes(1000 ** (power + 1));
  return `${power === 0 ? value : Number(value.toPrecision(3))} ${UNITS[power]}`;
}

/** Formats a time in a file as a clock: `0:07`, `1:02:03`; with `exact`, to a hundredth of a second. */
export function clock(seconds: number, exact = false): string {
  const hundredths = exact ? Math.round(seconds * 100) : Math.round(seconds) * 100;
  const whole = Math.floor(hundredths / 100);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  const fraction = exact ? `.${two(hundredths % 100)}` : "";
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(rest)}${fraction}`;
}

/** Formats the remaining time as people say it: `13 s left`, `2 h 5 min left`. */
export function timeLeft(seconds: number): string {
  if (seconds < 1) return strings.almostDone;
  if (seconds < 60) return strings.secondsLeft({ seconds: Math.ceil(seconds) });
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return strings.minutesLeft({ minutes });
  return strings.hoursLeft({ hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

/** Formats a duration as people say it: `13 s`, `3 min`, `2 h 5 min`; with `exact`, short ones to a tenth of a second. */
export function durationWords(seconds: number, exact = true): string {
  if (seconds < 10 && exact) return strings.seconds({ seconds: Number(Math.max(0.1, seconds).toFixed(1)) });
  if (seconds < 60) return strings.seconds({ seconds: Math.max(1, Math.round(seconds)) });
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return strings.minutes({ minutes });
  return strings.hours({ hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

/** Returns the remaining seconds of an estimate after some have passed; once overdue, adds half of the delay again. */
export function countDown(eta: number, passed: number): number {
  return Math.max(eta - passed, passed / 2);
}

/**
 * Describes how large a file was, is now, and what that saves: `12.4 MB → 3.1 MB, 75 % smaller`; also when it grew. Sizes
 * are in bytes.
 */
export function saving(before: number, after: number): string {
  return `${bytes(before)} → ${bytes(after)}, ${change(before, after)}`;
}

/** Formats what a size becomes as a share of the size before: `−63 %`, `+541 %`; empty for the same size. */
export function shareWords(before: number, after: number): string {
  if (before <= 0) return "";
  const percent = Math.round((after / before - 1) * 100);
  if (percent === 0) return "";
  return percent < 0 ? `−${Math.min(99, -percent)} %` : `+${percent} %`;
}

function change(before: number, after: number): string {
  if (after === before || before === 0) return after === before ? strings.sameSize : strings.larger;
  const percent = Math.round((Math.abs(after - before) / before) * 100);
  if (after < before) {
    if (percent >= 100) return strings.muchSmaller;
    return percent === 0 ? strings.slightlySmaller : strings.percentSmaller({ percent });
  }
  if (percent >= 100) return strings.timesAsLarge({ factor: Number((after / before).toPrecision(2)) });
  return percent === 0 ? strings.slightlyLarger : strings.percentLarger({ percent });
}
