import { expect, test } from "vitest";
import { type FramePart, frameHead, readFrames, writeFrame } from "../../src/encoders/wire-frame.ts";

const text = (value: string) => new TextEncoder().encode(value);
const inPieces = (bytes: Uint8Array, size: number) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
const collect = async (stream: ReadableStream<Uint8Array>) =>
  new Uint8Array(await new Response(stream).arrayBuffer());

test.for([1, 3, 7, 4096])("reads frames as written, in pieces of %d bytes", async (size) => {
  const parts: FramePart[] = [text("ab"), new Uint8Array(), async () => text("cdé")];
  const written = await collect(writeFrame({ name: "ü", n: [1, null] }, parts));
  const second = await collect(writeFrame({ last: true }));
  const frames = readFrames(inPieces(new Uint8Array([...written, ...second]), size));
  expect(await frames.json()).toEqual({ name: "ü", n: [1, null] });
  expect(await frames.bytes(2)).toEqual(text("ab"));
  expect(await frames.bytes(4)).toEqual(text("cdé"));
  expect(await frames.json()).toEqual({ last: true });
  expect(await frames.json()).toBeNull();
});

test("requests a part only when the reader reaches it", async () => {
  const requested: number[] = [];
  const part = (n: number) => async () => {
    requested.push(n);
    return text(String(n));
  };
  const reader = writeFrame({}, [part(1), part(2)]).getReader();
  await reader.read();
  expect(requested).toEqual([]);
  await reader.read();
  expect(requested).toEqual([1]);
});

test.for([
  { name: "cut off in its length", bytes: frameHead({}).subarray(0, 2) },
  { name: "cut off in its JSON", bytes: frameHead({ a: 1 }).subarray(0, 6) },
  { name: "not JSON", bytes: Uint8Array.of(2, 0, 0, 0, 123, 123) },
  { name: "of an absurd length", bytes: Uint8Array.of(255, 255, 255, 255, 123) },
] as const)("rejects a frame that is $name", async ({ bytes }) => {
  await expect(readFrames(inPieces(bytes, 64)).json()).rejects.toMatchObject({ kind: "request_invalid" });
});

test("rejects bytes that are cut off", async () => {
  await expect(readFrames(inPieces(text("abc"), 2)).bytes(4)).rejects.toMatchObject({
    kind: "request_invalid",
  });
});
