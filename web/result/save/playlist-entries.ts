/** Lists the URIs in an HLS playlist, each once and as written: playlists, segments and init segments. */
export function playlistEntries(text: string): string[] {
  const entries = text.split(/\r?\n/).map((line) => {
    if (line.startsWith("#")) return /[:,]URI="([^"]+)"/.exec(line)?.[1] ?? "";
    return line.trim();
  });
  return [...new Set(entries.filter((entry) => entry !== ""))];
}
