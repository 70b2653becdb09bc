import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";
import { renderPages } from "./build-page.ts";

const PUBLIC = join(ROOT, "web", "public");

/** Draws the icons of the installed page from its sign, and from the words of each job the card that a shared link shows. */
runMain(async () => {
  const icon = await readFile(join(PUBLIC, "icon.svg"), "utf8");
  await mkdir(join(PUBLIC, "icons"), { recursive: true });
  for (const size of [192, 512]) await write(icon, size, join(PUBLIC, "icons", `${size}.png`));
  await write(maskable(icon), 512, join(PUBLIC, "icons", "maskable.png"));

  await mkdir(join(PUBLIC, "cards"), { recursive: true });
  for (const { card, heading, lead } of await renderPages()) {
    const picture = sharp(Buffer.from(cardOf(heading, lead)));
    await picture.png({ palette: true, colors: 32, compressionLevel: 9 }).toFile(join(PUBLIC, card));
  }
});

async function write(svg: string, size: number, path: string): Promise<void> {
  const picture = sharp(Buffer.from(svg), { density: 72 * (size / 32) });
  await picture.resize(size, size).png({ palette: true, compressionLevel: 9 }).toFile(path);
}

/** Returns the icon without round corners and with its sign in the middle 80 %, because the system may cut off the rest. */
function maskable(icon: string): string {
  return icon
    .replace('viewBox="0 0 32 32"', 'viewBox="-4 -4 40 40"')
    .replace(/<rect [^>]*?fill="(#\w+)"\/>/, '<rect x="-4" y="-4" width="40" height="40" fill="$1"/>');
}

const WIDE = 24;

/** Returns a card of 1200 × 630: the sign, a heading in the frame, and where the work is done. */
function cardOf(heading: string, lead: string): string {
  const lines = linesOf(heading);
  const top = 352 - (lines.length - 1) * 42;
  const text = lines.map((line, index) => `<text x="120" y="${top + index * 84}">${line}</text>`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630" width="1200" height="630" font-family="Inter, DejaVu Sans, sans-serif">
    <rect width="1200" height="630" fill="#f5f7f5"/>
    <path d="M60 130V60h70M1070 60h70v70M1140 500v70h-70M130 570H60v-70" fill="none" stroke="#00694f" stroke-width="8"/>
    <g fill="none" stroke-width="3" transform="translate(110 100) scale(2.6)">
      <path d="M5 20.5V4.5h14M5 11.5h8" stroke="#151917"/><path d="M20 13.5v7h-7" stroke="#00694f"/>
    </g>
    <text x="186" y="148" font-size="38" font-weight="700" letter-spacing="-0.8" fill="#151917">Framewright</text>
    <g font-size="72" font-weight="700" letter-spacing="-2" fill="#151917">${text}</g>
    <text x="122" y="512" font-size="32" fill="#55605a">${escaped(lead)}</text>
  </svg>`;
}

function linesOf(heading: string): string[] {
  const lines: string[] = [];
  for (const word of heading.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < WIDE) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map(escaped);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
