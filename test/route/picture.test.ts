import { expect, test } from "vitest";
import { refuseScans } from "../../src/encoders/light/light-estimate.ts";
import { MediaError } from "../../src/media/errors.ts";
import type { RefusalReason } from "../../src/media/refusal.ts";
import { choosePictureEncoder } from "../../src/media/route.ts";
import type { Source } from "../../src/media/source.ts";
import { progressiveJpeg } from "../fixtures/jpeg.ts";
import { imageSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

const coded = ({ width, height }: Partial<Source>) =>
  width && height ? { coded_width: width, coded_height: height } : {};
const SMALL = { width: 640, height: 480 };
const LARGE = { width: 6000, height: 4000 };
const MEMORY = { code: "memory", needed_bytes: 2e8, available_bytes: 1e8 } as const;
const NONE = { code: "not_configured" } as const;
const CODEC = { code: "output_codec", codec: "av1" } as const;

type Row = [
  ...[
    string,
    source: Partial<Source>,
    options: object,
    light: RefusalReason | null,
    native: RefusalReason | null,
  ],
  chosen: "light" | "native" | string[],
];
const ROWS: Row[] = [
  ["small", SMALL, {}, null, null, "light"],
  ["small without native encoders", SMALL, {}, null, NONE, "light"],
  ["too large for a Worker", LARGE, { width: 640 }, MEMORY, null, "native"],
  ["too large without native encoders", LARGE, {}, MEMORY, NONE, ["memory", "not_configured"]],
  ["that neither can", LARGE, {}, MEMORY, CODEC, ["memory", "output_codec"]],
  ["of 200 Mpx", { width: 20_000, height: 10_000 }, { width: 640 }, MEMORY, null, ["memory", "memory"]],
  [
    "that takes long",
    { width: 8000, height: 5000 },
    { format: "avif" },
    CODEC,
    null,
    ["output_codec", "time"],
  ],
  [
    "in motion",
    { ...SMALL, animated: true, duration: 2, fps: 10 },
    { format: "webp" },
    MEMORY,
    null,
    ["memory", "animated"],
  ],
];

test.each(ROWS)("a picture %s", (_, facts, options, light, native, chosen) => {
  const source = { ...imageSource(facts), ...coded(facts) };
  const plan = createPlan(source, "image", options);
  const choose = () => choosePictureEncoder({ plan, source, light, native });
  if (typeof chosen === "string") return expect(choose()).toBe(chosen);
  try {
    choose();
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    const codes = thrown.refusals?.map(({ code }) => code);
    return expect([thrown.kind, codes]).toEqual(["encoder_unavailable", chosen]);
  }
  throw new Error("It was not refused.");
});

test("a progressive JPEG is too large for a Worker by its samples, another of the size is not", () => {
  const refusal = (width: number, height: number, marker = 0xc2, fill = 0) => {
    const source = imageSource({ format: "jpeg", pixel_format: "yuvj420p", ...coded({ width, height }) });
    const jpeg = progressiveJpeg(width, height);
    const at = jpeg.indexOf(0xc2);
    jpeg.set([marker], at);
    const filled = Buffer.concat([jpeg.subarray(0, at), Buffer.alloc(fill, 0xff), jpeg.subarray(at)]);
    return refuseScans(filled, source)?.code;
  };
  expect(refusal(4000, 3200)).toBeUndefined();
  expect(refusal(6400, 4800)).toBe("memory");
  expect(refusal(6400, 4800, 0xc2, 3)).toBe("memory");
  expect(refusal(6400, 4800, 0xc0)).toBeUndefined();
});
