import { readFile, rm, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { keepClip, makeClip, runFfmpeg } from "../fixtures/make-clip.ts";
import { INTEGRITY_SOURCES } from "../integrity/sources.ts";
import { trial } from "./encode-trial.ts";

// ISO/IEC 14496-2, 6.2.5: a start code, then two bits for the picture type.
const VOP = Buffer.from([0, 0, 1, 0xb6]);
const TYPES = ["I", "P", "B", "S"] as const;

function* vopsOf(bytes: Buffer): Generator<{ at: number; type: (typeof TYPES)[number] | undefined }> {
  for (let at = bytes.indexOf(VOP); at >= 0; at = bytes.indexOf(VOP, at + 4)) {
    yield { at, type: TYPES[(bytes[at + 4] ?? 0) >> 6] };
  }
}

async function countsOf(path: string) {
  const { counts } = await runEncode(await trial(path, "video", { quality: "low" }));
  return counts;
}

test("counts packed B-frames as pictures, but not their placeholders", async () => {
  const path = await INTEGRITY_SOURCES.mpeg4_packed.make("mkv");
  expect(await countsOf(path)).toMatchObject({ pictures: { source: 348, output: 348 } });
});

test("counts a packed B-frame that cannot be decoded as missing", async () => {
  const path = await INTEGRITY_SOURCES.mpeg4_packed.make("mkv");
  const broken = await keepClip("mkv", `an undecodable B-frame in ${path}`, async (copy) => {
    const bytes = await readFile(path);
    const { at = 0 } = [...vopsOf(bytes)].filter(({ type }) => type === "B")[50] ?? {};
    // Turns it into a sprite, which the stream does not declare.
    bytes[at + 4] = (bytes[at + 4] ?? 0) | 0b11000000;
    await writeFile(copy, bytes);
  });
  await expect(countsOf(broken)).rejects.toMatchObject({
    kind: "encode_incomplete",
    message: expect.stringMatching(/^The encode is incomplete: 1 of 348 pictures are missing/),
  });
});

test.for(["mkv", "avi"])(
  "does not count packets in %s that repeat the previous picture",
  async (container) => {
    const pictures = "testsrc2=size=160x96:rate=25:duration=4";
    const coded = await makeClip("m4v", ["-f", "lavfi", "-i", pictures, "-c:v", "mpeg4", "-f", "m4v"]);
    const path = await keepClip(container, `not coded ${coded}`, async (copy) => {
      const bytes = await readFile(coded);
      const vops = [...vopsOf(bytes)];
      const parts = vops.map(({ at, type }, index) => {
        const whole = bytes.subarray(at, vops[index + 1]?.at);
        return type === "P" && index % 10 === 5 ? notCoded(whole) : whole;
      });
      await writeFile(`${copy}.m4v`, Buffer.concat([bytes.subarray(0, vops[0]?.at), ...parts]));
      await runFfmpeg([
        "-fflags",
        "+genpts",
        "-r",
        "25",
        "-f",
        "m4v",
        "-i",
        `${copy}.m4v`,
        "-c",
        "copy",
        copy,
      ]);
      await rm(`${copy}.m4v`);
    });
    expect(await countsOf(path)).toEqual({ pictures: { source: 90, output: 90 } });
  },
);

// Ends a picture after its time: elapsed seconds as ones and a zero, a marker, 5 bits for a resolution of 25, a marker.
function notCoded(vop: Buffer): Buffer {
  const bits = [...vop.subarray(4, 8)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const time = bits.slice(0, bits.indexOf("0", 2) + 8);
  const coded = `${time}0`.padEnd(Math.ceil((time.length + 2) / 8) * 8, "1");
  return Buffer.concat([
    VOP,
    Buffer.from(coded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []),
  ]);
}
