import { expect, test } from "vitest";
import { createAvifEncoder } from "../../src/encoders/images/avif.ts";
import { createCanvasEncoder } from "../../src/encoders/images/canvas.ts";
import { LIGHT_LIMITS, refuseLight } from "../../src/encoders/light/light-estimate.ts";
import { NATIVE_PROTOCOL } from "../../src/encoders/native/native-wire.ts";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import { FAST_TOOLS, NATIVE_TOOLS, refuseTools, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { nativeWork } from "../../src/media/native-costs.ts";
import { optionControl } from "../../src/media/option-groups.ts";
import { describeRefusal } from "../../src/media/words.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";
import { describeSettings } from "../../web/words/item-words.ts";
import { parseJob } from "../../worker/container/parse-job.ts";
import { argsOf } from "../ffmpeg/args-of.ts";
import { imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const film = videoSource();
const photo = imageSource({ has_alpha: false });
const transparent = imageSource({ has_alpha: true });
const plan = createPlan(film, "video", { denoise: "medium" });

test("a video is denoised over space and time, before it is scaled", () => {
  expect(plan.video).toMatchObject({ denoise: { strength: "medium", still: false, alpha: false } });
  const filters = (["light", "medium", "strong"] as const).map(
    (denoise) => argsOf(film, "video", { denoise, width: 320 }).match(/hqdn3d=.*?,scale=320/)?.[0],
  );
  expect(filters).toEqual([
    "hqdn3d=2:1.5:3:2.25,scale=320",
    "hqdn3d=4:3:6:4.5,scale=320",
    "hqdn3d=8:6:12:9,scale=320",
  ]);
});

test("a picture is denoised by its similar patches, and keeps its transparency", () => {
  const still = createPlan(photo, "image", { denoise: "strong" });
  expect(still.image).toMatchObject({ denoise: { strength: "strong", still: true, alpha: false } });
  expect(argsOf(photo, "image", { denoise: "strong" })).toContain("[0:V:0]nlmeans=s=6:p=5:r=9,");
  expect(argsOf(transparent, "image", { denoise: "light" })).toContain(
    "[0:V:0]format=rgba,split[noisy][clear];[clear]alphaextract[mask];" +
      "[noisy]nlmeans=s=1.5:p=5:r=9[clean];[clean][mask]alphamerge,",
  );
});

test("frames of a video and moving pictures are denoised as a video is", () => {
  const gif = imageSource({ format: "gif", animated: true, duration: 2, fps: 10 });
  for (const source of [film, gif]) {
    const { image } = createPlan(source, "image", { denoise: "light", format: "webp" });
    expect(image).toMatchObject({ denoise: { still: false } });
  }
});

test("a video that would be copied is encoded, and an explicit copy is refused", () => {
  expect(createPlan(film, "video", {}).video?.mode).toBe("copy");
  expect(plan.video?.mode).toBe("encode");
  const request = { input: "https://a.example/a.mp4", kind: "video" };
  expect(() => parseTaskRequest({ ...request, options: { denoise: "light", mode: "copy" } })).toThrow(
    'options.denoise needs an encode, which options.mode "copy" rules out.',
  );
  expect(() => parseTaskRequest({ ...request, options: { denoise: "weak" } })).toThrow(
    "options.denoise must be one of light, medium, strong.",
  );
});

test("the builds of ffmpeg with the filters do it; all other encoders refuse", () => {
  const small = videoSource({ width: 320, height: 180, coded_width: 320, coded_height: 180 });
  const webp = createPlan(photo, "image", { denoise: "light", format: "webp" });
  const avif = createPlan(photo, "image", { denoise: "light", format: "avif" });
  expect({
    native: refuseTools(plan, film, NATIVE_TOOLS),
    stock: refuseTools(plan, film, WASM_TOOLS),
    light: refuseLight(createPlan(small, "video", { denoise: "medium" }), small, LIGHT_LIMITS),
    fast: refuseTools(plan, film, FAST_TOOLS),
    webcodecs: createWebCodecsEncoder({ sound: null }).refuse(plan, film),
    canvas: createCanvasEncoder().refuse(webp, photo),
    avif: createAvifEncoder({ wasm: "x" }).refuse(avif, photo),
  }).toEqual({
    native: null,
    stock: null,
    light: null,
    fast: { code: "denoising" },
    webcodecs: { code: "denoising" },
    canvas: { code: "denoising" },
    avif: { code: "denoising" },
  });
  expect(refuseTools(plan, film, { ...NATIVE_TOOLS, lacks: ["denoise"] })).toEqual({ code: "denoising" });
  expect(describeRefusal({ encoder: "webcodecs", code: "denoising" })).toBe("it cannot take out noise");
});

test("it adds to the time that an encode takes", () => {
  const plain = nativeWork(createPlan(film, "video", { width: 300 }), film);
  const denoised = nativeWork(createPlan(film, "video", { width: 300, denoise: "strong" }), film);
  expect(denoised.pictures).toBeGreaterThan(plain.pictures ?? 0);
});

test("a form offers its strengths, and a summary names it", () => {
  expect(optionControl("video", "denoise", "strong")).toEqual({
    label: "Noise reduction",
    hint: "Fine detail suffers.",
    empty: undefined,
    default: undefined,
    choices: [
      { value: undefined, label: "None" },
      { value: "light", label: "Light" },
      { value: "medium", label: "Medium" },
      { value: "strong", label: "Strong" },
    ],
    objects: null,
  });
  const wishes = { kind: "video", options: { denoise: "light" }, target_size: null, preset: null } as const;
  expect(describeSettings({ ...wishes, place: "device" }, film)).toBe(
    "MP4, H.264, less noise, medium quality",
  );
});

test("a container accepts only known strengths", () => {
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
  expect(parseJob(job, null).plan).toEqual(plan);
  const denoise = { strength: "9;movie=x", still: false, alpha: false };
  const hostile = { ...job, plan: { ...plan, video: { ...plan.video, denoise } } };
  expect(() => parseJob(hostile, null)).toThrow(/denoise/);
});
