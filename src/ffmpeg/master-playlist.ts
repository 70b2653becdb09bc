export interface MasterEntry {
  /** As written, relative to the playlist. */
  uri: string;
  /** Bits per second, from BANDWIDTH. */
  bitrate: number;
  codecs: string;
  width?: number;
  height?: number;
}

/** Parses the streams of an HLS master playlist (RFC 8216, 4.3.4.2) in order; ignores other lines. */
export function parseMasterPlaylist(text: string): MasterEntry[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, index) => {
    const list = /^#EXT-X-STREAM-INF:(.*)$/.exec(line)?.[1];
    const uri = lines.slice(index + 1).find((next) => next !== "" && !next.startsWith("#"));
    if (list === undefined || uri === undefined) return [];
    const attribute = (name: string) =>
      new RegExp(`(?:^|,)${name}=("[^"]*"|[^,]*)`).exec(list)?.[1]?.replaceAll('"', "");
    const [, width, height] = /^(\d+)x(\d+)$/.exec(attribute("RESOLUTION") ?? "") ?? [];
    const size = width && height ? { width: Number(width), height: Number(height) } : {};
    return [
      { uri, bitrate: Number(attribute("BANDWIDTH") ?? 0), codecs: attribute("CODECS") ?? "", ...size },
    ];
  });
}
