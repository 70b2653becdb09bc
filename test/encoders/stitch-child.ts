/** Stitches the same part many times: `node stitch-child.ts <format> <part> <times> <seconds> <sound> <output>`. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import type { VideoFormat } from "../../src/media/formats.ts";
import { stitch } from "../../src/mux/stitch.ts";
import type { ByteReader } from "../../src/runs/ports.ts";

const [, , format, part = "", times, seconds, sound = "", output = ""] = process.argv;
const MIB = 1_048_576;
let peak = 0;

function readerOf(path: string): ByteReader {
  const file = openSync(path, "r");
  const { size } = fstatSync(file);
  return {
    size,
    async read({ start, end }) {
      const bytes = new Uint8Array(Math.max(0, Math.min(end, size) - start));
      readSync(file, bytes, 0, bytes.length, start);
      return bytes;
    },
  };
}

const input = readerOf(part);
const at = (index: number) => index * Number(seconds);
const video = Array.from({ length: Number(times) }, (_, index) => ({ input, at: at(index) }));
const file = openSync(output, "w");
let size = 0;
const stream = stitch({ format: format as VideoFormat, video, audio: readerOf(sound) });
for await (const bytes of stream) {
  size += bytes.length;
  peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  writeSync(file, bytes);
}
closeSync(file);
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ size, cpu: (user + system) / 1e6, buffers: peak / MIB }));
