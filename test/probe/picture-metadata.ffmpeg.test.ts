import { readFile, writeFile } from "node:fs/promises";
import sharp from "sharp";
import { expect, test } from "vitest";
import { dropped } from "../../src/media/dropped.ts";
import { type PictureMetadata, readPictureMetadata } from "../../src/probe/picture-metadata.ts";
import { HEIF_ROWS } from "../fixtures/heif-rows.ts";
import { keepClip } from "../fixtures/make-clip.ts";
import { pngChunk } from "../inputs/png.ts";
import { imageSource } from "../plan/source.ts";
import { bytesReader, probeFile } from "./probe-file.ts";

const FORMATS = ["jpeg", "png", "webp", "tiff", "avif"] as const;

const drawing = () => sharp({ create: { width: 32, height: 32, channels: 3, background: "#396" } });

const metadataOf = async (bytes: Buffer | Promise<Buffer>) =>
  readPictureMetadata(bytesReader(await bytes), AbortSignal.timeout(10_000));

/** Returns the reasons for which an image lacks a picture's metadata. */
const reasonsOf = (metadata: PictureMetadata) =>
  dropped("image", { format: "webp" }, imageSource(metadata)).map(({ kind, reason }) => `${kind} ${reason}`);

const xmp = (attributes: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ${attributes}/></rdf:RDF></x:xmpmeta>`;
const CREDIT = xmp('xmlns:dc="http://purl.org/dc/elements/1.1/" dc:creator="Ada"');
const LAYOUT = xmp('xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"');

test.for(FORMATS)("XMP of a %s is listed, unless it states only the layout", async (format) => {
  const written = (text: string) => drawing().withXmp(text).toFormat(format).toBuffer();
  const credited = await metadataOf(written(CREDIT));
  expect(credited).toEqual({ xmp: true });
  expect(reasonsOf(credited)).toEqual(["tags private"]);
  expect(await metadataOf(written(LAYOUT))).toEqual({});
  expect(await metadataOf(drawing().toFormat(format).toBuffer())).toEqual({});
});

test("XMP of a WebP that mentions XMP is listed", async () => {
  const text = CREDIT.replace(
    "/></rdf:RDF>",
    "><dc:title>About XMP files</dc:title></rdf:Description></rdf:RDF>",
  );
  expect(await metadataOf(drawing().withXmp(text).webp().toBuffer())).toEqual({ xmp: true });
});

/** A box of an AVIF. */
function box(kind: string, ...parts: (Buffer | number[] | string)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(part as string))),
  );
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length);
  head.write(kind, 4);
  return Buffer.concat([head, body]);
}

test("an AVIF whose items claim millions of extents without bytes is read within bounded memory", async () => {
  const items = Array.from({ length: 2000 }, (_, id) => [id >> 8, id & 255, 0, 0, 255, 255]).flat();
  const meta = box(
    "meta",
    Buffer.alloc(4),
    box("pitm", [0, 0, 0, 0, 0, 1]),
    box("iloc", [0, 0, 0, 0, 0, 0, 2000 >> 8, 2000 & 255], items),
    box("iinf", [0, 0, 0, 0, 0, 1], box("infe", [2, 0, 0, 0, 0, 1, 0, 0], "Exif\0")),
    box("iprp", box("ipco")),
  );
  expect(await metadataOf(Buffer.concat([box("ftyp", "avif\0\0\0\0avif"), meta]))).toEqual({});
});

/** Returns a JPEG that begins with a segment. */
async function jpegWith(marker: number, body: Buffer): Promise<Buffer> {
  const jpeg = await drawing().jpeg().toBuffer();
  const head = Buffer.from([0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255]);
  return Buffer.concat([jpeg.subarray(0, 2), head, body, jpeg.subarray(2)]);
}

const RESOLUTION = Buffer.from("8BIM\x03\xed\0\0\0\0\0\x02ab", "latin1");

/** Returns Photoshop's image resources, the second of which is IPTC data with one data set. */
function resources(record: number, set: number, text: string): Buffer {
  const data = Buffer.from([0x1c, record, set, 0, text.length, ...Buffer.from(text)]);
  const head = Buffer.from(`8BIM\x04\x04\0\0\0\0\0${String.fromCharCode(data.length)}`, "latin1");
  return Buffer.concat([Buffer.from("Photoshop 3.0\0"), RESOLUTION, head, data]);
}

test("IPTC data of a JPEG are listed, unless they only name the character set", async () => {
  const captioned = await metadataOf(jpegWith(0xed, resources(2, 120, "A hill")));
  expect(captioned).toEqual({ iptc: true });
  expect(reasonsOf(captioned)).toEqual(["tags private"]);
  expect(await metadataOf(jpegWith(0xed, resources(1, 90, "\x1b%G")))).toEqual({});
});

const gifWith = async (text: string, end: boolean) => {
  const gif = await drawing().gif().toBuffer();
  const block = Buffer.concat([
    Buffer.from([0x21, 0xfe, text.length]),
    Buffer.from(text, "latin1"),
    Buffer.alloc(1),
  ]);
  const palette = 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1);
  const at = end ? gif.length - 1 : (gif[10] ?? 0) & 0x80 ? palette : 13;
  return Buffer.concat([gif.subarray(0, at), block, gif.subarray(at)]);
};

test.for([
  { place: "in a JPEG", write: (text: string) => jpegWith(0xfe, Buffer.from(text)) },
  { place: "at the start of a GIF", write: (text: string) => gifWith(text, false) },
  { place: "at the end of a GIF", write: (text: string) => gifWith(text, true) },
])("a comment is listed, and an encoder's signature is not: $place", async ({ write }) => {
  const commented = await metadataOf(write("Seen from the north"));
  expect(commented).toEqual({ comments: true });
  expect(reasonsOf(commented)).toEqual(["tags not_supported"]);
  expect(await metadataOf(write("Created with GIMP"))).toEqual({});
});

test.for([
  { chunk: "tEXt", text: "Title\0A hill", metadata: { comments: true } },
  { chunk: "iTXt", text: "Title\0\0\0en\0\0A hill", metadata: { comments: true } },
  { chunk: "zTXt", text: "Raw profile type iptc\0\0x", metadata: { iptc: true } },
  { chunk: "tEXt", text: "Software\0Paint 3", metadata: {} },
] as const)(
  "the $chunk chunk $text of a PNG is read before and after its pixels",
  async ({ chunk, text, metadata }) => {
    const png = await drawing().png().toBuffer();
    for (const at of [33, png.length - 12]) {
      const parts = [png.subarray(0, at), pngChunk(chunk, Buffer.from(text, "latin1")), png.subarray(at)];
      expect(await metadataOf(Buffer.concat(parts))).toEqual(metadata);
    }
  },
);

test("EXIF data of a HEIC or AVIF that state only the orientation are not listed", async () => {
  for (const format of ["HEIC", "AVIF"]) {
    const row = HEIF_ROWS.find(({ name }) => name === `${format} in orientation 6, stated twice`);
    expect(await metadataOf(readFile((await row?.make()) ?? ""))).toEqual({});
  }
});

test.for(["jpeg", "png", "webp", "avif"] as const)(
  "EXIF data of a %s that name a camera are listed",
  async (format) => {
    const photo = drawing().withExif({ IFD0: { Make: "Framewright" } });
    expect(await metadataOf(photo.toFormat(format).toBuffer())).toEqual({ exif: true });
  },
);

test("a probe states the metadata of a picture", async () => {
  const path = await keepClip("jpg", "a JPEG with a comment", async (to) =>
    writeFile(to, await jpegWith(0xfe, Buffer.from("Seen from the north"))),
  );
  expect((await probeFile(path)).source).toMatchObject({ format: "jpeg", comments: true });
});
