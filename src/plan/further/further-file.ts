import { furtherInputs, type InputRole } from "../../core/further/further-inputs.ts";
import type { Source } from "../../core/source.ts";

/** A file that a plan reads beside its source. */
export interface FurtherFile {
  role: InputRole;
  format: string;
  /** Bytes. */
  size: number;
  /** Pixels of one of its pictures; 0 when it has none or they are not known. */
  pixels: number;
}

/** Returns the further files of a request that encoders read, of which `sources` are known; what is not known yet is none of their formats. */
export function furtherFiles(
  request: { options: object },
  sources: readonly Source[] = [],
): { further?: FurtherFile[] } {
  const read = furtherInputs(request).filter(({ role }) => role !== "subtitles");
  const further = read.map(({ role }, at) => ({
    ...{ role, format: sources[at]?.format ?? "unknown" },
    size: sources[at]?.filesize ?? 0,
    pixels: (sources[at]?.width ?? 0) * (sources[at]?.height ?? 0),
  }));
  return further.length > 0 ? { further } : {};
}
