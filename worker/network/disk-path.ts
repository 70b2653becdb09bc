import { toHex } from "../../src/util/bytes.ts";

// What any file system takes as a name; a dot at its start hides a file.
const PLAIN = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

/** Returns the path of a key's file; a file's name ends in `~`, so that none is a folder's too. */
export function diskPath(key: string): string {
  return `${folderPath(key)}~`;
}

/** Returns the path of the folder that holds every key with a prefix; empty, or with a slash at its end. */
export function folderOf(prefix: string): string {
  return folderPath(prefix.slice(0, prefix.lastIndexOf("/") + 1));
}

/** Returns the key of a file's path. */
export function keyOf(path: string): string {
  const bytes = path
    .replace(/~$/, "")
    .replaceAll(/~([0-9a-f]{2})/g, "%$1")
    .replaceAll("%2f", "%252f");
  return decodeURIComponent(bytes);
}

function folderPath(key: string): string {
  return key.split("/").map(encodeName).join("/");
}

function encodeName(name: string): string {
  if (PLAIN.test(name) || name === "") return name;
  return [...name]
    .map((char) =>
      /[A-Za-z0-9_-]/.test(char) ? char : `~${toHex(new TextEncoder().encode(char)).match(/../g)?.join("~")}`,
    )
    .join("");
}
