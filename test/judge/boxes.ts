const CONTAINERS = new Set(["moov", "trak", "edts", "tref", "mdia", "minf", "gmhd", "stbl", "udta"]);

/** Lists the boxes of an MP4 or MOV by their paths, such as `moov/trak/tkhd`. */
export function listPaths(file: Buffer, within = "", start = 0, end = file.length): string[] {
  const paths: string[] = [];
  for (let at = start; at + 8 <= end; ) {
    const large = file.readUInt32BE(at) === 1;
    const size = large ? Number(file.readBigUInt64BE(at + 8)) : file.readUInt32BE(at);
    if (size < 8) break;
    const kind = file.toString("latin1", at + 4, at + 8);
    paths.push(within + kind);
    if (CONTAINERS.has(kind)) {
      paths.push(...listPaths(file, `${within}${kind}/`, at + (large ? 16 : 8), Math.min(at + size, end)));
    }
    at += size;
  }
  return paths;
}
