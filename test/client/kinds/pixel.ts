import type { Client } from "../../../src/client/client.ts";
import { ok } from "../../browser/assert.ts";

/** Returns the red, green and blue of a PNG of one pixel, whichever filter its row has. */
export async function pixelOf(png: Blob): Promise<Uint8Array> {
  const bytes = new Uint8Array(await png.arrayBuffer());
  const at = String.fromCharCode(...bytes).indexOf("IDAT");
  const length = new DataView(bytes.buffer).getUint32(at - 4);
  const data = new Blob([bytes.slice(at + 4, at + 4 + length)]).stream();
  const row = await new Response(data.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  return new Uint8Array(row).slice(1);
}

/** Asserts that a PNG of one pixel is blue. */
export async function checkBlue(png: Blob): Promise<void> {
  const [red = 255, green = 255, blue = 0] = await pixelOf(png);
  ok(red < 80 && green < 80 && blue > 170, `it is ${red}, ${green}, ${blue}, not blue`);
}

/** Asserts that the mean of the picture, or of the first one of a video, is blue. */
export async function checkBluePicture(media: Blob, client: Client): Promise<void> {
  const options = { format: "png", width: 1, height: 1 } as const;
  await checkBlue((await client.run({ input: media, kind: "image", options })).blob);
}
