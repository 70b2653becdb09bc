import { makeZip } from "client-zip";
import type { Taken } from "../output-files.ts";
import { numbered } from "./file-names.ts";

/** Makes a zip of outputs while it is read: each file is opened when its turn comes, and none is held. Media do not get smaller by zip, so they are put in as they are. */
export function zipStream(outputs: readonly Taken[]): ReadableStream<Uint8Array> {
  return makeZip(entries(outputs));
}

async function* entries(outputs: readonly Taken[]) {
  const names = numbered(outputs.map(({ name }) => name));
  const lastModified = new Date();
  for (const [index, { files, is_folder }] of outputs.entries()) {
    const name = names[index] ?? "";
    for (const { path, open } of files) {
      yield { name: is_folder ? `${name}/${path}` : name, lastModified, input: await open() };
    }
  }
}
