import type { MediaInput } from "../../src/index.ts";
import { defaultWishes } from "../options/default-wishes.ts";
import type { Item } from "./item.ts";

let last = 0;

/** Creates an item from a file or URL that has not been probed. */
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

/** Returns a new id, which sorts after all earlier ones of this tab. */
export function nextId(): string {
  last = Math.max(last + 1, Date.now() * 1000);
  return `${last.toString(36).padStart(11, "0")}-${crypto.randomUUID().slice(0, 8)}`;
}

/** Returns an input's name as the visitor knows it: the file's, or the last part of a URL. */
function nameOf(input: MediaInput): string {
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
