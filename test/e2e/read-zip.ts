import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";

/** Unpacks a zip of uncompressed files into a folder, by its central directory; returns their sorted paths. Throws if a checksum is wrong. */
export async function unpackZip(path: string, folder: string): Promise<string[]> {
  const bytes = await readFile(path);
  const end = bytes.lastIndexOf(Buffer.from("PK\x05\x06"));
  if (end < 0) throw new Error("This is not a zip.");
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  const names: string[] = [];
  for (let index = 0; index < count; index++) {
    if (bytes.readUInt32LE(at) !== 0x02014b50) throw new Error("The directory of the zip is broken.");
    const [method, crc, size] = [
      bytes.readUInt16LE(at + 10),
      bytes.readUInt32LE(at + 16),
      bytes.readUInt32LE(at + 24),
    ];
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) =>
      bytes.readUInt16LE(at + offset),
    );
    const name = bytes.subarray(at + 46, at + 46 + (nameBytes ?? 0)).toString();
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(start, start + size);
    if (method !== 0 || crc32(data) !== crc)
      throw new Error(`${name} is compressed or has a wrong checksum.`);
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), data);
    names.push(name);
    at += 46 + (nameBytes ?? 0) + (extraBytes ?? 0) + (commentBytes ?? 0);
  }
  return names.sort();
}
