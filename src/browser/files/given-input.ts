import type { LocalFile } from "../media-api.ts";
import { isOpfsPath, type LocalUrls, openOpfsPath, runOfFile } from "./local-urls.ts";

/** An input on this machine: the visitor's file, if it is one, and the URL that the request has for it. */
export interface GivenInput {
  file: LocalFile | null;
  url: string | null;
}

/** Returns the input of a request that is on this machine; null for any other. */
export async function givenInput(
  request: unknown,
  given: LocalFile | null,
  urls: LocalUrls,
): Promise<GivenInput | null> {
  const input: unknown = Object(request).input;
  const url: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "url") : input;
  if (given) return { file: given, url: null };
  if (isOpfsPath(url)) return { file: urls.key(url) === null ? await openOpfsPath(url) : null, url };
  return typeof url === "string" && runOfFile(url) !== null ? { file: null, url } : null;
}
