import { PLAYLIST, type Segment } from "../manifests/media-playlist.ts";

/** A text track of adaptive video. */
export interface StreamText {
  /** Folder of its files. */
  folder: string;
  /** For a player's menu; unlike those of the others. */
  name: string;
  /** As in BCP 47; undefined when unknown. */
  language?: string | undefined;
  /** Whether players show it unless told otherwise; at most one of them. */
  default?: true | undefined;
  forced?: true | undefined;
  /** Of its playlist. */
  segments: readonly Segment[];
}

/** Writes the text tracks of a master playlist (RFC 8216, 4.3.4.1). */
export function writeTextGroup(texts: readonly StreamText[]): string[] {
  return texts.map(({ folder, name, language, default: shown, forced }) => {
    const facts = [
      ...["TYPE=SUBTITLES", 'GROUP-ID="subtitles"', `NAME="${name}"`],
      ...(language ? [`LANGUAGE="${language}"`] : []),
      ...[`DEFAULT=${shown ? "YES" : "NO"}`, "AUTOSELECT=YES", `FORCED=${forced ? "YES" : "NO"}`],
      `URI="${folder}/${PLAYLIST}"`,
    ];
    return `#EXT-X-MEDIA:${facts.join(",")}`;
  });
}

/** Returns the file of a text track in one of the Periods of a DASH manifest; its times count from the start of the Period. */
export function periodText(folder: string, period: number): string {
  return `${folder}/period_${period}.vtt`;
}

const ROLES = "urn:mpeg:dash:role:2011";
// Bits per second of text that is read aloud; players only compare it.
const BANDWIDTH = 256;

/** Writes the text tracks of a Period: each a whole file, because players do not agree on segments of plain WebVTT. */
export function writeTextSets(texts: readonly StreamText[], period: number): string[] {
  return texts.flatMap(({ folder, name, language, default: shown, forced }) => {
    const roles = [forced ? "forced-subtitle" : "subtitle", ...(shown ? ["main"] : [])];
    return [
      `    <AdaptationSet contentType="text" mimeType="text/vtt"${language ? ` lang="${language}"` : ""}>`,
      `      <Label>${escaped(name)}</Label>`,
      ...roles.map((role) => `      <Role schemeIdUri="${ROLES}" value="${role}"/>`),
      `      <Representation id="${folder}" bandwidth="${BANDWIDTH}">`,
      `        <BaseURL>${periodText(folder, period)}</BaseURL>`,
      "      </Representation>",
      "    </AdaptationSet>",
    ];
  });
}

function escaped(text: string): string {
  // XML cannot have control characters, however they are written.
  return text
    .replaceAll(/\p{Cc}/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
}
