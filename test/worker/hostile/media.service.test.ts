import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { clip } from "../../fixtures/clips.ts";
import { openRig, type Rig } from "../../judge/rig.ts";
import { NASTY } from "./nasty.ts";

// One black pixel.
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
}, 180_000);
afterAll(() => rig?.close());

// Every third is enough to find a fault that is not specific to one text.
const NAMES = NASTY.filter((name, index) => name.isWellFormed() && name.length < 200 && index % 3 === 1);

test.concurrent.for(NAMES)("encodes a file named %j like any other", async (name, { expect }) => {
  const input = rig.origin.serve(`/${encodeURIComponent(name)}.png`, { file: PNG });
  const task = await rig.door.runTask({ input, kind: "image", options: { format: "jpeg" } });
  expect([task.error, task.status]).toEqual([null, "succeeded"]);
  const url = new URL(task.output ?? "");
  expect(url.pathname).toMatch(/^\/media\/[\w.-]+\/out\/task_\w+\/[\w-]{1,64}\.jpg$/);
  const response = await fetch(url);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect([response.status, ...bytes.subarray(0, 2)]).toEqual([200, 0xff, 0xd8]);
  const shown = Object.fromEntries(response.headers);
  expect(shown).toMatchObject({ "content-type": "image/jpeg", "x-content-type-options": "nosniff" });
  for (const header of ["set-cookie", "x-injected", "location"]) expect(shown).not.toHaveProperty(header);
});

test("a caller's description of a source never reaches ffmpeg; the file itself is probed", async () => {
  const url = `${rig.serve(await clip("mp4", { seconds: 1 }))}?a=b%0d%0aX-Injected:1;touch%20pwned`;
  const nasty = "h264,movie=/etc/passwd;$(touch pwned)\n-i /etc/passwd";
  const input = {
    object: "source",
    url,
    kind: "video",
    format: nasty,
    mime: nasty,
    rotation: 90,
    width: 3,
    height: 5,
    codecs: { video: nasty, audio: nasty },
    color: { hdr: true, transfer: nasty, primaries: nasty },
    duration: 3600,
    fps: 24,
    encoder: nasty,
    streams: [{ index: 0, kind: "video", codec: nasty }],
  } as never;
  const options = { codec: "h265", width: 80 };
  const step = await rig.door.runStep({ kind: "video", input, options });
  expect([step.error, step.status]).toEqual([null, "succeeded"]);
  expect(step.output).toMatchObject({ width: 80, codecs: { video: "h265" }, encoder: "native" });
  expect(JSON.stringify(step.output)).not.toMatch(/passwd|pwned/);
  for (const { headers } of rig.origin.log) expect(headers).not.toHaveProperty("x-injected");
});

test.for([
  {
    name: "a concat script",
    write: (inner: string) => `ffconcat version 1.0\nfile '${inner}'\nfile 'file:///etc/passwd'\n`,
  },
  {
    name: "a playlist",
    write: (inner: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${inner}\n#EXT-X-ENDLIST\n`,
  },
  { name: "an SVG that references other images", write: (inner: string) => svgOf(inner) },
  {
    name: "a session description",
    write: () => "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n",
  },
] as const)("$name leads to no other file", async ({ write }) => {
  const inner = rig.origin.serve("/inner.png", { file: PNG });
  rig.origin.forget();
  const ends: Task[] = [];
  for (const name of ["list.mp4", "list.png"]) {
    const input = rig.origin.serve(`/${name}`, { file: Buffer.from(write(inner)), mime: "video/mp4" });
    ends.push(await rig.door.runTask({ input, kind: "video", options: { codec: "h265" } }));
  }
  expect(ends.map(({ status }) => status)).toEqual(["failed", "failed"]);
  for (const { error } of ends)
    expect(error?.kind).toMatch(/^(input_unsupported|probe_failed|input_no_video)$/);
  expect(rig.origin.log.filter(({ path }) => path === "/inner.png")).toEqual([]);
});

function svgOf(inner: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="${inner}"/><image href="file:///etc/passwd"/></svg>`;
}
