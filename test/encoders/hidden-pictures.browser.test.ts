import { afterAll, beforeAll, expect, test } from "vitest";
import { openWebCodecs } from "../browser/webcodecs-rig.ts";
import { recallOriginal } from "../integrity/judge.ts";
import { numberedClip } from "../integrity/numbered.ts";
import { FAULTLESS, findFaults, readFrames } from "../integrity/read-frames.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let service: Rig;
let page: Awaited<ReturnType<typeof openWebCodecs>>;
beforeAll(async () => {
  [service, page] = await Promise.all([openRig(), openWebCodecs()]);
});
afterAll(() => Promise.all([service?.close(), page?.close()]));

/** VP8 with hidden pictures, which libvpx places one encoder tick, here a millisecond, after the previous picture. */
const hidden = () =>
  numberedClip({
    ...{ container: "webm", frames: 250, two_passes: true },
    codec:
      "-c:v libvpx -deadline good -cpu-used 5 -b:v 400k -g 75 -auto-alt-ref 1 -lag-in-frames 16 -enc_time_base:v 1:1000",
  });

test.for(["h264", "h265"] as const)(
  "the service does not count hidden pictures as missing in %s",
  async (codec) => {
    const source = await hidden();
    const { frames, start } = await recallOriginal(source);
    expect(frames).toHaveLength(250);
    const output = await service.door.encode({
      ...{ input: service.serve(source), kind: "video" },
      options: { codec, quality: "low" },
    });
    expect(findFaults(await readFrames(output.path), { frames, start })).toEqual(FAULTLESS);
    expect(output.task.steps[2]?.output?.counts?.pictures).toEqual({ source: 250, output: 250 });
  },
);

test("a span does not begin with a hidden picture", async () => {
  const source = await hidden();
  const { frames, start } = await recallOriginal(source);
  // Picture 15 is shown from 0.607 s; a hidden one has 0.608 s.
  const output = await service.door.encode({
    ...{ input: service.serve(source), kind: "video" },
    options: { quality: "low", start: 0.62 },
  });
  const [first] = await readFrames(output.path);
  expect([first?.number, first?.time]).toEqual([15, 0]);
  const rest = { frames: frames.slice(15), start: start + 0.62 };
  expect(findFaults(await readFrames(output.path), rest)).toEqual(FAULTLESS);
});

test("WebCodecs outputs no hidden pictures", async () => {
  const source = await hidden();
  const { frames, start } = await recallOriginal(source);
  const { files, error } = await page.encode(source, { quality: "low" });
  expect(error).toBeNull();
  expect(findFaults(await readFrames(files[0]?.path ?? ""), { frames, start })).toEqual(FAULTLESS);
});
