/** Decoded pictures of one size, without compression. */
export interface RawPictures {
  /** Layout of the planes: I420 or NV12, without gaps. */
  format: "I420" | "NV12";
  width: number;
  height: number;
  /** Display size, which states the shape of the pixels. */
  displaySize: { width: number; height: number };
  /** Nominal frames per second. */
  fps: number;
  /** Code points of ITU-T H.273; null for those that the source does not state. */
  color: { primaries: number | null; transfer: number | null; matrix: number | null };
  /** Pictures in display order; times in seconds. */
  pictures: readonly { at: number; duration: number; bytes: Uint8Array<ArrayBuffer> }[];
}

const TICK_SECONDS = 1e-6;
const LIMITED_RANGE = 1;
const [VIDEO, NUMBER] = [1, 1];
const BLOCK_HEADER = Uint8Array.of(0x80 | NUMBER, 0, 0, 0);

/** The format of {@link writeRawMatroska}'s files. */
export const RAW_FORMAT = "matroska";

/** Writes decoded pictures to a Matroska file, so that ffmpeg reads them in place of their source. */
export function writeRawMatroska(raw: RawPictures): Blob {
  const { format, width, height, displaySize, fps, color, pictures } = raw;
  const codePoint = (id: number, value: number | null) => (value === null ? [] : number(id, value));
  const parts = [
    ...element(0x1a45dfa3, ...text(0x4282, RAW_FORMAT), ...number(0x4287, 4), ...number(0x4285, 2)),
    ...header(0x18538067, null),
    ...element(0x1549a966, ...number(0x2ad7b1, TICK_SECONDS * 1e9)),
    ...element(
      0x1654ae6b,
      ...element(
        0xae,
        ...number(0xd7, NUMBER),
        ...number(0x73c5, NUMBER),
        ...number(0x83, VIDEO),
        ...number(0x23e383, Math.round(1e9 / fps)),
        ...text(0x86, "V_UNCOMPRESSED"),
        ...element(
          0xe0,
          ...number(0xb0, width),
          ...number(0xba, height),
          ...number(0x54b0, displaySize.width),
          ...number(0x54ba, displaySize.height),
          ...text(0x2eb524, format),
          ...element(
            0x55b0,
            ...codePoint(0x55b1, color.matrix),
            ...number(0x55b9, LIMITED_RANGE),
            ...codePoint(0x55ba, color.transfer),
            ...codePoint(0x55bb, color.primaries),
          ),
        ),
      ),
    ),
  ];
  for (const { at, duration, bytes } of pictures) {
    const block = [
      ...element(0xa1, BLOCK_HEADER, bytes),
      ...number(0x9b, Math.max(1, Math.round(duration / TICK_SECONDS))),
    ];
    parts.push(
      ...element(0x1f43b675, ...number(0xe7, Math.round(at / TICK_SECONDS)), ...element(0xa0, ...block)),
    );
  }
  return new Blob(parts, { type: "video/x-matroska" });
}

type Bytes = Uint8Array<ArrayBuffer>;

function element(id: number, ...content: Bytes[]): Bytes[] {
  return [
    ...header(
      id,
      content.reduce((sum, { length }) => sum + length, 0),
    ),
    ...content,
  ];
}

/** Returns an element's ID and length; null for an unknown length. */
function header(id: number, length: number | null): Bytes[] {
  const hex = id.toString(16);
  const bytes = new Uint8Array(hex.length / 2 + 8);
  for (let at = 0; at < hex.length / 2; at++) bytes[at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(hex.length / 2, (1n << 56n) | (length === null ? (1n << 56n) - 1n : BigInt(length)));
  return [bytes];
}

function number(id: number, value: number): Bytes[] {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Math.round(value)));
  return element(id, bytes);
}

function text(id: number, value: string): Bytes[] {
  return element(id, new TextEncoder().encode(value) as Bytes);
}
