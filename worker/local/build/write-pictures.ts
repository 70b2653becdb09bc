import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";

const PUBLIC = join(ROOT, "web", "public");

/** Writes the pictures of the page that are made from its sign, `web/public/icon.svg`: the icons of an installed page. */
runMain(async () => {
  const icon = await readFile(join(PUBLIC, "icon.svg"), "utf8");
  const folder = join(PUBLIC, "icons");
  await mkdir(folder, { recursive: true });
  for (const size of [192, 512]) await write(icon, size, join(folder, `${size}.png`));
  await write(maskable(icon), 512, join(folder, "maskable.png"));
});

async function write(svg: string, size: number, path: string): Promise<void> {
  const picture = sharp(Buffer.from(svg), { density: 72 * (size / 32) });
  await picture.resize(size, size).png({ palette: true, compressionLevel: 9 }).toFile(path);
}

/** Returns the icon without round corners and with its sign in the middle 80 %, as the system cuts off the rest. */
function maskable(icon: string): string {
  return icon
    .replace('viewBox="0 0 32 32"', 'viewBox="-4 -4 40 40"')
    .replace(/<rect [^>]*?fill="(#\w+)"\/>/, '<rect x="-4" y="-4" width="40" height="40" fill="$1"/>');
}
