import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createAvifEncoder } from "../../src/encoders/images/avif.ts";
import { NATIVE_PROTOCOL } from "../../src/encoders/native/native-wire.ts";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import { FAST_TOOLS, NATIVE_TOOLS, refuseTools, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { optionControl } from "../../src/media/option-groups.ts";
import { nativeWork } from "../../src/media/route/costs.ts";
import { describeRefusal } from "../../src/media/words.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";
import { describeWishes } from "../../web/words/item-words.ts";
import { parseJob } from "../../worker/container/parse-job.ts";
import { argsOf } from "../ffmpeg/args-of.ts";
import { imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const film = videoSource();
const plan = createPlan(film, "video", { denoise: "medium" });

test("an option becomes a part of the plan and a filter before the scaling", () => {
  expect(plan.video).toMatchObject({ denoise: { strength: "medium", still: false, alpha: false } });
  expect(argsOf(film, "video", { denoise: "medium", width: 320 })).toContain("hqdn3d=4:3:6:4.5,scale=320");
  const photo = imageSource({ has_alpha: true });
  expect(argsOf(photo, "image", { denoise: "light" })).toContain(
    "nlmeans=s=1.5:p=5:r=9[clean];[clean][mask]alphamerge",
  );
});

test("engines without the filter refuse, in words", () => {
  expect(createWebCodecsEncoder({ sound: null }).refuse(plan, film)).toEqual({ code: "denoising" });
  expect(refuseTools(plan, film, FAST_TOOLS)).toEqual({ code: "denoising" });
  expect(refuseTools(plan, film, WASM_TOOLS)).toBeNull();
  expect(refuseTools(plan, film, NATIVE_TOOLS)).toBeNull();
  const still = createPlan(film, "image", { denoise: "light", format: "avif" });
  expect(createAvifEncoder({ wasm: "x" }).refuse(still, film)).toEqual({ code: "denoising" });
  expect(describeRefusal({ encoder: "webcodecs", code: "denoising" })).toBe("it cannot take out noise");
});

test("the request, the job, the cost, the form and the summary know it", () => {
  const request = { input: "https://a.example/a.mp4", kind: "video", options: { denoise: "weak" } };
  expect(() => parseTaskRequest(request)).toThrow("options.denoise must be one of light, medium, strong.");
  expect(() => parseTaskRequest({ ...request, options: { denoise: "light", mode: "copy" } })).toThrow(
    /rules out/,
  );
  const plain = createPlan(film, "video", { width: 300 });
  const noisy = createPlan(film, "video", { width: 300, denoise: "strong" });
  expect(nativeWork(noisy, film).pictures).toBeGreaterThan(nativeWork(plain, film).pictures ?? 0);
  expect(optionControl("video", "denoise", undefined).choices?.map(({ label }) => label)).toEqual([
    "None",
    "Light",
    "Medium",
    "Strong",
  ]);
  expect(
    describeWishes({ kind: "video", options: { denoise: "light" }, target_size: null } as never, film),
  ).toContain("less noise");
  const job = {
    protocol: NATIVE_PROTOCOL,
    id: "a",
    plan,
    chunk: plan.chunks[0],
    source: film,
    input: { url: "https://a.example/i", size: 1, etag: "a" },
    folder: "https://a.example/o/",
    name: "output.mp4",
  };
  expect(parseJob(job, null).plan.video).toMatchObject({ denoise: { strength: "medium" } });
  const wrong = {
    ...job,
    plan: {
      ...plan,
      video: { ...plan.video, denoise: { strength: "9;movie=x", still: false, alpha: false } },
    },
  };
  expect(() => parseJob(wrong, null)).toThrow(/denoise/);
});

test("ffmpeg takes the graph", () => {
  const graph =
    argsOf(film, "video", { denoise: "strong", width: 64 }).match(/-filter_complex (\S+)/)?.[1] ?? "";
  const args = `-v error -f lavfi -i testsrc2=size=128x96:duration=0.2 -filter_complex ${graph} -map [video] -f null -`;
  expect(execFileSync("ffmpeg", args.split(" ")).length).toBe(0);
  const photo = imageSource({ has_alpha: true, pixel_format: "rgba" });
  const still =
    argsOf(photo, "image", { denoise: "strong", format: "png" }).match(/-filter_complex (\S+)/)?.[1] ?? "";
  const png = `-v error -f lavfi -i testsrc2=size=128x96:duration=0.1,format=rgba -filter_complex ${still} -map [video] -frames:v 1 -f null -`;
  expect(execFileSync("ffmpeg", png.split(" ")).length).toBe(0);
});
