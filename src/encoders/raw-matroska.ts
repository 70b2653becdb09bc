/** What raw pictures of one kind look like. */
export interface RawPictures {
  /** Pixels. */
  width: number;
  height: number;
  /** How the planes lie, by its four-character code. */
  layout: "I420" | "NV12";
  /** Frames per second as far as known, for readers that ask before they look. */
  fps: number;
}

/** Nanoseconds in a tick: times are in microseconds. */
const TICK = 1000;

/** Gives the start of a Matroska file of raw pictures, which ends wherever its last picture ends; RFC 9559. */
export function rawMatroskaStart({ width, height, layout, fps }: RawPictures): Uint8Array {
  const video = [element(0xb0, uint(width)), element(0xba, uint(height)), element(0x2eb524, text(layout))];
  const track = [
    element(0xd7, uint(1)),
    element(0x73c5, uint(1)),
    element(0x83, uint(1)),
    element(0x86, text("V_UNCOMPRESSED")),
    element(0x23e383, uint(Math.round(1e9 / fps))),
    element(0xe0, join(video)),
  ];
  return join([
    element(
      0x1a45dfa3,
      join([element(0x4282, text("matroska")), element(0x4287, uint(4)), element(0x4285, uint(2))]),
    ),
    id(0x18538067),
    UNKNOWN,
    element(0x1549a966, element(0x2ad7b1, uint(TICK))),
    element(0x1654ae6b, element(0xae, join(track))),
  ]);
}

/** Gives what comes before the bytes of one picture, which is shown from a microsecond on. */
export function rawMatroskaPicture(at: number, bytes: number): Uint8Array {
  const time = element(0xe7, uint(at));
  // Of track 1, at the cluster's own time, a keyframe.
  const block = Uint8Array.of(0x81, 0, 0, 0x80);
  const head = join([id(0xa3), size(block.length + bytes), block]);
  return join([id(0x1f43b675), size(time.length + head.length + bytes), time, head]);
}

const UNKNOWN = Uint8Array.of(0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);

function element(name: number, payload: Uint8Array): Uint8Array {
  return join([id(name), size(payload.length), payload]);
}

function id(name: number): Uint8Array {
  return uint(name);
}

// In four bytes, of which the first bit that is set tells how many they are.
function size(bytes: number): Uint8Array {
  return uint(bytes + 0x1000_0000);
}

function uint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest >= 1 || bytes.length === 0; rest = Math.floor(rest / 256))
    bytes.unshift(rest % 256);
  return Uint8Array.from(bytes);
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
