import { stat } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EncodeKind } from "../../../src/media/formats.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { createRig } from "./rig.ts";

const rig = createRig();
let origin: Origin;
beforeAll(async () => {
  [origin] = await Promise.all([startOrigin(), rig.server.listen()]);
});
afterAll(() => Promise.all([origin?.close(), rig.server.close()]));

test.each<{ kind: EncodeKind; options: object; why: RegExp }>([
  { kind: "video", options: { codec: "h265" }, why: /light: .*H\.265.*native: there is no native encoder/ },
  { kind: "video", options: { codec: "av1" }, why: /light: .*AV1.*native: there is no native encoder/ },
  { kind: "image", options: { format: "avif" }, why: /light: .*avif.*native: there is no native encoder/ },
])(
  "heavy work without a native encoder fails before the source is copied: $kind $options",
  async ({ kind, options, why }) => {
    const file = await clip("mp4_faststart", { size: "640x360", seconds: 10 });
    const input = origin.serve("/heavy.mp4", { file });
    origin.forget();
    const { json: created } = await rig.call("/tasks", { method: "POST", body: { input, kind, options } });
    const task = await rig.finished(created.id);
    expect(task.error).toMatchObject({ kind: "encoder_unavailable", retryable: false });
    expect(task.error?.message).toMatch(why);
    const bytes = origin.log.reduce((sum, request) => sum + request.bytes, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan((await stat(file)).size / 2);
    const { MEDIA } = await rig.worker().getEnv();
    const left = async () => (await MEDIA.list({ prefix: `work/${task.id}/` })).objects.map(({ key }) => key);
    // The bytes of the probe are kept until the run is cleared.
    expect(await left()).not.toContain(`work/${task.id}/source`);
    await rig.until(left, (keys) => keys.length === 0);
  },
);

test("light work runs without a native encoder", async () => {
  const input = origin.serve("/light.wav", { file: await clip("wav") });
  const { json: created } = await rig.call("/tasks", { method: "POST", body: { input, kind: "audio" } });
  const task = await rig.finished(created.id);
  expect([task.error, task.steps[2]?.output?.encoder]).toEqual([null, "light"]);
});
