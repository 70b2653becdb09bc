import { makeZip } from "client-zip";
import { numberDuplicates } from "./file-names.ts";
import type { SavedOutput } from "./output-files.ts";

/** Streams a zip of outputs, opening one file at a time. Media do not compress, so they are stored. */
export function zipStream(outputs: readonly SavedOutput[]): ReadableStream<Uint8Array> {
  return makeZip(entries(outputs));
}

async function* entries(outputs: readonly SavedOutput[]) {
  const names = numberDuplicates(outputs.map(({ name }) => name));
  const lastModified = new Date();
  for (const [index, { files, is_folder }] of outputs.entries()) {
    const name = names[index] ?? "";
    for (const { path, open } of files) {
      yield { name: is_folder ? `${name}/${path}` : name, lastModified, input: await open() };
    }
  }
}
