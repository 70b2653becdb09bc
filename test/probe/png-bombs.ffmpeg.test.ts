import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, deflateRawSync, deflateSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { pngChunk } from "../inputs/png.ts";
import { maskedBitmap, writeIcon } from "../judge/icons.ts";
import { probeFile } from "./probe-file.ts";

const folder = await mkdtemp(join(tmpdir(), "framewright-bombs-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const SIDE = 600;
const LINES = Buffer.alloc(SIDE * (1 + 3 * SIDE), 1);
const MEBIBYTE = deflateRawSync(Buffer.alloc(2 ** 20), { finishFlush: constants.Z_FULL_FLUSH });

/** Returns the zlib data of a picture and as many mebibytes behind it. */
function packed(mebibytes: number): Buffer {
  const picture = deflateRawSync(LINES, { finishFlush: constants.Z_FULL_FLUSH });
  const rest = Array<Buffer>(mebibytes).fill(MEBIBYTE);
  return Buffer.concat([Buffer.from("789c", "hex"), picture, ...rest, Buffer.from("030000000000", "hex")]);
}

const HEADER = Buffer.alloc(13);
HEADER.writeUInt32BE(SIDE, 0);
HEADER.writeUInt32BE(SIDE, 4);
HEADER.set([8, 2], 8);

const png = (...chunks: Buffer[]) =>
  Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    pngChunk("IHDR", HEADER),
    ...chunks,
    pngChunk("IEND", Buffer.alloc(0)),
  ]);

const frame = (number: number, side = SIDE) => {
  const control = Buffer.alloc(26);
  control.set([number], 3);
  control.writeUInt32BE(side, 4);
  control.writeUInt32BE(side, 8);
  control.set([0, 1, 0, 10], 20);
  return pngChunk("fcTL", control);
};
const numbered = (number: number, data: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, number]), data]);
const animated = (data: Buffer) =>
  png(
    ...[
      pngChunk("acTL", Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])),
      frame(0),
      pngChunk("IDAT", deflateSync(LINES)),
    ],
    ...[frame(1), pngChunk("fdAT", numbered(2, data))],
  );
const icon = (data: Buffer) => writeIcon([{ data: png(pngChunk("IDAT", data)), width: 0, height: 0 }]);

const FILES = {
  "a PNG": (data: Buffer) => png(pngChunk("IDAT", data)),
  "a PNG in two parts": (data: Buffer) =>
    png(pngChunk("IDAT", data.subarray(0, 5000)), pngChunk("IDAT", data.subarray(5000))),
  "a PNG with the headers of frames, which only animations have": (data: Buffer) =>
    png(
      ...[frame(0, 2 ** 31 - 1), pngChunk("IDAT", data.subarray(0, 5000))],
      ...[frame(1), pngChunk("IDAT", data.subarray(5000))],
    ),
  "a later frame of an APNG": animated,
  "a PNG in an icon": icon,
  "a PNG behind a masked bitmap": (data: Buffer) =>
    writeIcon([
      { data: maskedBitmap({ bits: 8, width: 32, height: 32 }), width: 32, height: 32 },
      { data: png(pngChunk("IDAT", data)), width: 0, height: 0 },
    ]),
};

test.for(Object.entries(FILES))(
  "refuses gigabytes of data behind the pixels of %s",
  async ([name, write]) => {
    const path = join(folder, `${name.replaceAll(" ", "-")}.picture`);
    await writeFile(path, write(packed(500)));
    await expect(probeFile(path)).rejects.toMatchObject({
      kind: "input_unsupported",
      message: expect.stringMatching(/more compressed data than a picture of its size can need/),
    });
    // Less excess costs little time, and viewers show the picture.
    await writeFile(path, write(packed(20)));
    expect((await probeFile(path)).source).toMatchObject({ width: SIDE, height: SIDE });
  },
);
