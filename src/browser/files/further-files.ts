import { nameOf } from "../../client/open-file.ts";
import { extraInputs, mapExtraInputs } from "../../media/extra-inputs.ts";
import type { LocalFile, Run } from "../media-api.ts";
import { furtherFileId, type InputFiles } from "./input-files.ts";
import { furtherFileUrl, furtherOfFile } from "./local-urls.ts";

/**
 * Replaces the further files of a request by URLs that carry their indexes. Returns the request, and the files by index; `given`
 * has them by the paths of their URLs in the request.
 */
export function numberFurther(
  request: unknown,
  given: ReadonlyMap<string, LocalFile>,
): { request: unknown; files: ReadonlyMap<number, LocalFile> } {
  const files = new Map<number, LocalFile>();
  if (given.size === 0) return { request, files };
  let at = -1;
  const numbered = mapExtraInputs(Object(request) as { options?: unknown }, (url, _, param) => {
    at++;
    const file = given.get(param);
    if (!file) return url;
    files.set(at, file);
    return furtherFileUrl(nameOf(file), at);
  });
  return { request: numbered, files };
}

/** Returns the further files that the page can still read, each with its index and the path of its URL in the request. */
export async function findFurther(
  files: InputFiles,
  record: Run,
): Promise<{ at: number; param: string; blob: Blob }[]> {
  const found: { at: number; param: string; blob: Blob }[] = [];
  for (const [at, { url, param }] of extraInputs(record).entries()) {
    const blob = furtherOfFile(url) === null ? null : await files.find(furtherFileId(record.id, at));
    if (blob) found.push({ at, param, blob });
  }
  return found;
}
