import { faultWords } from "../words/fault-words.ts";
import type { Item } from "./item.ts";
import * as strings from "./list-strings.ts";
import { stateOf } from "./queue.ts";

const MAX_NAMES = 3;

/**
 * Describes what has changed in a queue for screen readers: starts, ends, errors, and progress in quarters. Empty when there
 * is nothing to say.
 */
export function announce(before: readonly Item[], after: readonly Item[]): string {
  const previous = new Map(before.map((item) => [item.id, item]));
  const namesByNews = new Map<string, string[]>();
  for (const item of after) {
    const words = newsOf(previous.get(item.id), item);
    if (words) namesByNews.set(words, [...(namesByNews.get(words) ?? []), item.name]);
  }
  return [...namesByNews]
    .map(([words, names]) =>
      names.length > MAX_NAMES
        ? strings.filesNews({ count: names.length, words })
        : `${names.join(", ")}: ${words}.`,
    )
    .join(" ");
}

function newsOf(before: Item | undefined, item: Item): string | null {
  if (!before) return null;
  const state = stateOf(item);
  if (state !== stateOf(before)) {
    if (!(state in strings.news)) return null;
    const words = strings.news[state as keyof typeof strings.news];
    const fault = state === "failed" ? item.task?.error : state === "unusable" ? item.fault : null;
    return fault
      ? `${words}. ${faultWords(fault, typeof item.input !== "string").title.replace(/\.$/, "")}`
      : words;
  }
  if (item.fault && item.fault !== before.fault)
    return faultWords(item.fault, typeof item.input !== "string").title.replace(/\.$/, "");
  const [was, is] = [quarterOf(before), quarterOf(item)];
  return is > was && is < 4 ? `${is * 25} %` : null;
}

function quarterOf({ pace }: Item): number {
  return Math.floor((pace?.progress ?? 0) / 25);
}
