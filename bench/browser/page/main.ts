import { convert } from "./conversion.ts";
import { ours } from "./ours.ts";
import { plain } from "./plain.ts";

interface BenchPage {
  ours: typeof ours;
  plain: typeof plain;
  convert: typeof convert;
  /** Saves the last output of a side for measurement. */
  save(blob: Blob, name: string): Promise<void>;
}

declare global {
  var bench: BenchPage;
}

globalThis.bench = { ours, plain, convert, save };

async function save(blob: Blob, name: string): Promise<void> {
  const response = await fetch(`/saved/${name}`, { method: "PUT", body: blob });
  if (!response.ok) throw new Error(`The server did not accept ${name}.`);
}
