import type { MediaInput } from "../../src/index.ts";
import { defaultWishes } from "../options/default-wishes.ts";
import type { Item } from "./item.ts";

let last = 0;

/** Builds an item of a file or URL that nobody has looked into. */
export function createItem(input: MediaInput): Item {
  return {
    id: nextId(),
    name: nameOf(input),
    size: typeof input === "string" || !("size" in input) ? null : input.size,
    input,
    source: null,
    thumbnail: null,
    wishes: defaultWishes({ kind: "video" }),
    starting: null,
    task: null,
    service: null,
    pace: null,
    waiting: null,
    fault: null,
  };
}

/** Gives a new id, which comes after all earlier ones of this tab in the order of letters. */
export function nextId(): string {
  last = Math.max(last + 1, Date.now() * 1000);
  return `${last.toString(36).padStart(11, "0")}-${crypto.randomUUID().slice(0, 8)}`;
}

/** The name that a visitor knows an input by: that of the file, or the last part of a URL. */
export function nameOf(input: MediaInput): string {
  if (typeof input !== "string") return "name" in input ? String(input.name) : "Pasted file";
  const url = URL.parse(input);
  const part = url?.pathname.split("/").findLast((each) => each !== "");
  return (part && readable(part)) || url?.hostname || input;
}

function readable(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
