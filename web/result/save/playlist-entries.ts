/** Lists the addresses that an HLS playlist names, each once and as it stands there: of playlists, segments and their beginnings. */
export function playlistEntries(text: string): string[] {
  const entries = text.split(/\r?\n/).map((line) => {
    if (line.startsWith("#")) return /[:,]URI="([^"]+)"/.exec(line)?.[1] ?? "";
    return line.trim();
  });
  return [...new Set(entries.filter((entry) => entry !== ""))];
}
