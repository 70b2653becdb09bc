import { afterAll, beforeAll, expect, test } from "vitest";
import { CLIENT_CONTRACT } from "../client/contract.ts";
import { FAST_KINDS } from "../client/kinds/contract-kinds.ts";
import { dubbedClip } from "../client/kinds/dubbed-clip.ts";
import { clip } from "../fixtures/clips.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { type ClientLab, openClientLab } from "./client-rig.ts";

let rig: ClientLab;
let origin: Origin;
let page: string;
beforeAll(async () => {
  [rig, origin] = await Promise.all([openClientLab(), startOrigin()]);
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
  const text = new TextEncoder().encode("This is no video at all.\n".repeat(400));
  const inputs = {
    video: origin.serve("/clip.mp4", { file: await clip("mp4"), mime: "video/mp4", headers }),
    dubbed: origin.serve("/dubbed.mp4", { file: await dubbedClip("h264"), mime: "video/mp4", headers }),
    text: origin.serve("/text.mp4", { file: text, mime: "video/mp4", headers }),
    missing: origin.serve("/missing.mp4", { status: 404, headers }),
    silent: origin.serve("/silent.mp4", { silent: true }),
  };
  const query = btoa(JSON.stringify(inputs));
  page = `/test/browser/client-contract.page.ts?${new URLSearchParams({ hosts: query })}`;
});
afterAll(async () => {
  await rig?.close();
  await origin?.close();
});

test.for(CLIENT_CONTRACT)("the local client $name", ({ name }) => rig.lab.run(page, name));

test.for(FAST_KINDS)("the local client $name", ({ name }) => rig.lab.run(page, name));

test("the page logs no errors except the 404 of the missing input", () => {
  expect(rig.lab.complaints.filter((text) => !/status of 404/.test(text))).toEqual([]);
});
