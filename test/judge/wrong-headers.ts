import { avi, film, noise, replaceAll, rewritten, sound } from "./odd-lengths.ts";

/** An FLV whose metadata states another duration, in seconds. */
export async function flvOf(seconds: number): Promise<string> {
  return rewritten(await film("flv"), "flv", `lasts-${seconds}`, (file) => {
    file.writeDoubleBE(seconds, file.indexOf("duration") + 9);
    return file;
  });
}

/** A FLAC whose header multiplies its sample count by `times`; 0 stands for an unknown count. */
export async function flacOf(times: number): Promise<string> {
  return rewritten(await sound("flac"), "flac", `times-${times}`, (file) => {
    // RFC 9639, 8.2: 36 bits end at byte 26.
    const low = Math.round(file.readUInt32BE(22) * times);
    file.writeUInt32BE(low, 22);
    return file;
  });
}

/** A FLAC whose frames state the numbers of their first samples as if they were their own, as Flake 0.11 wrote. */
export async function flacOfSampleNumbers(): Promise<string> {
  return rewritten(await sound("flac"), "flac", "numbers of samples", (file) => {
    const starts: number[] = [];
    for (let at = file.indexOf("fff8", "hex"); at >= 0; at = file.indexOf("fff8", at + 1, "hex")) {
      const number = codedNumber(starts.length);
      const check = at + flacHeader(file, at, number.length);
      const isNext = file.subarray(at + 4).indexOf(number) === 0;
      if (isNext && crcOf(file.subarray(at, check), 0x07, 8) === file[check]) starts.push(at);
    }
    const block = file.readUInt16BE(8);
    const frames = starts.map((start, frame) => {
      const length = codedNumber(frame).length;
      const check = start + flacHeader(file, start, length);
      const parts = [file.subarray(start, start + 4), codedNumber(frame * block)];
      const head = Buffer.concat([...parts, file.subarray(start + 4 + length, check)]);
      const body = file.subarray(check + 1, (starts[frame + 1] ?? file.length) - 2);
      const whole = Buffer.concat([head, Buffer.of(crcOf(head, 0x07, 8)), body]);
      const crc = crcOf(whole, 0x8005, 16);
      return Buffer.concat([whole, Buffer.of(crc >> 8, crc & 255)]);
    });
    return Buffer.concat([file.subarray(0, starts[0]), ...frames]);
  });
}

// RFC 9639, 9.1: the bytes before the checksum of a frame's header.
function flacHeader(file: Buffer, at: number, number: number): number {
  const codes = file[at + 2] ?? 0;
  const [size, rate] = [codes >> 4, codes & 15];
  return 4 + number + ([0, 1, 2][size - 5] ?? 0) + ([0, 1, 2, 2][rate - 11] ?? 0);
}

function codedNumber(value: number): Buffer {
  if (value < 0x80) return Buffer.of(value);
  const more = value < 0x800 ? 1 : value < 0x1_0000 ? 2 : 3;
  const rest = Array.from(
    { length: more },
    (_, place) => 0x80 | ((value >> (6 * (more - place - 1))) & 0x3f),
  );
  return Buffer.of(((0xff00 >> (more + 1)) & 0xff) | (value >> (6 * more)), ...rest);
}

function crcOf(bytes: Uint8Array, polynomial: number, bits: 8 | 16): number {
  const top = 1 << (bits - 1);
  return bytes.reduce((sum, byte) => {
    let crc = sum ^ (byte << (bits - 8));
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & top ? polynomial : 0)) & (2 * top - 1);
    return crc;
  }, 0);
}

/** A Matroska whose header multiplies its duration by `times`, with or without the tags of its tracks. */
export async function matroskaOf(times: number, tagged: boolean): Promise<string> {
  return rewritten(await film("mkv"), "mkv", `times-${times}-${tagged}`, (file) => {
    const at = file.indexOf(Buffer.from("448988", "hex")) + 3;
    file.writeDoubleBE(file.readDoubleBE(at) * times, at);
    return tagged ? file : replaceAll(file, "DURATION", "XURATION");
  });
}

/** An AVI whose headers multiply the counts of its pictures and sound by `times`. */
export async function aviOf(times: number): Promise<string> {
  return rewritten(await avi(), "avi", `times-${times}`, (file) => {
    const total = file.indexOf("avih") + 24;
    file.writeUInt32LE(file.readUInt32LE(total) * times, total);
    for (let at = file.indexOf("strh"); at >= 0; at = file.indexOf("strh", at + 4))
      file.writeUInt32LE(file.readUInt32LE(at + 40) * times, at + 40);
    return file;
  });
}

/** An AVI that ends before its index. */
export async function aviWithoutIndex(): Promise<string> {
  return rewritten(await avi(), "avi", "no-index", (file) => file.subarray(0, file.lastIndexOf("idx1")));
}

/** A WAV whose header states this number of bytes of sound. */
export async function wavOf(bytes: number): Promise<string> {
  return rewritten(await sound("wav"), "wav", `bytes-${bytes}`, (file) => {
    file.writeUInt32LE(bytes, file.indexOf("data") + 4);
    return file;
  });
}

/** An AIFF whose header multiplies its sample count by `times`; 0 for none. */
export async function aiffOf(times: number): Promise<string> {
  return rewritten(await sound("aiff"), "aiff", `times-${times}`, (file) => {
    const at = file.indexOf("COMM") + 10;
    file.writeUInt32BE(file.readUInt32BE(at) * times, at);
    return file;
  });
}

/** An MP3 of noise whose first frame multiplies its frame count by `times`. */
export async function miscountedNoise(times: number): Promise<string> {
  return rewritten(await noise(), "mp3", `times-${times}`, (file) => {
    const at = Math.max(file.indexOf("Xing"), file.indexOf("Info")) + 8;
    file.writeUInt32BE(Math.round(file.readUInt32BE(at) * times), at);
    return file;
  });
}

/** An MP3 cut and joined several times, amid frames whose data lies in the ones before. */
export async function brokenJoints(): Promise<string> {
  return rewritten(await noise(), "mp3", "joints", (file) =>
    Buffer.concat(
      Array.from({ length: 8 }, (_, part) => file.subarray(part * 777 + 1001, 15_000 + part * 501)),
    ),
  );
}

const FRAME = 384;

/** An MP3 of 384-byte frames after one with a VBRI tag, which multiplies their count by `times`. */
export async function vbri(times: number): Promise<string> {
  const plain = ["-c:a", "libmp3lame", "-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"];
  return rewritten(await sound("mp3", ...plain), "mp3", `vbri-${times}`, (file) => {
    const tag = Buffer.alloc(FRAME);
    file.copy(tag, 0, 0, 4);
    tag.write("VBRI", 36, "latin1");
    tag.writeUInt16BE(1, 40);
    tag.writeUInt32BE(file.length + FRAME, 46);
    tag.writeUInt32BE(Math.round((file.length / FRAME) * times), 50);
    return Buffer.concat([tag, file]);
  });
}

/** The start of a file, as a share of its bytes. */
export async function cutOff(path: string, extension: string, share: number): Promise<string> {
  return rewritten(path, extension, `cut-${share}`, (file) =>
    file.subarray(0, Math.floor(file.length * share)),
  );
}
