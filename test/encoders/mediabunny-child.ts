/** Muxes packets with mediabunny's own muxer: `node mediabunny-child.ts <packets>`. */
import { EncodedPacket, EncodedVideoPacketSource, Mp4OutputFormat, Output, StreamTarget } from "mediabunny";

const maximumPacketCount = Number(process.argv[2]);
const format = new Mp4OutputFormat({ fastStart: false });
const output = new Output({ format, target: new StreamTarget(new WritableStream()) });
const source = new EncodedVideoPacketSource("vp9");
output.addVideoTrack(source, { maximumPacketCount });
await output.start();
const decoderConfig = { codec: "vp09.00.10.08", codedWidth: 64, codedHeight: 36 };
for (let index = 0; index < maximumPacketCount; index++) {
  const type = index % 300 === 0 ? "key" : "delta";
  await source.add(new EncodedPacket(new Uint8Array(16), type, index / 60, 1 / 60), { decoderConfig });
}
await output.finalize();
console.log("whole");
