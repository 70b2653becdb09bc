import { expect, test } from "vitest";
import { createLadder, maxrateFor, RUNGS } from "../../src/media/rates.ts";
import { faultOf } from "./source.ts";

const plain = (width: number, height: number) => ({ width, height, pixel_aspect: 1, rotate: 0 }) as const;
const sizes = (...args: Parameters<typeof createLadder>) =>
  createLadder(...args).map(({ name, geometry }) => `${name} ${geometry.width}x${geometry.height}`);

test.for([
  {
    name: "1080p has five rungs",
    stored: plain(1920, 1080),
    options: {},
    expected: ["1080p 1920x1080", "720p 1280x720", "480p 854x480", "360p 640x360", "240p 426x240"],
  },
  {
    name: "portrait video is named by its short side",
    stored: plain(1080, 1920),
    options: {},
    expected: ["1080p 1080x1920", "720p 720x1280", "480p 480x854", "360p 360x640", "240p 240x426"],
  },
  {
    name: "a rotated source has upright rungs",
    stored: { ...plain(1280, 720), rotate: 90 },
    options: {},
    expected: ["720p 720x1280", "480p 480x854", "360p 360x640", "240p 240x426"],
  },
  {
    name: "a source between two rungs adds its own",
    stored: plain(1000, 500),
    options: {},
    expected: ["500p 1000x500", "480p 960x480", "360p 720x360", "240p 480x240"],
  },
  {
    name: "a source below the lowest rung has only its own",
    stored: plain(160, 90),
    options: {},
    expected: ["90p 160x90"],
  },
  { name: "an odd source rounds to even", stored: plain(161, 91), options: {}, expected: ["90p 160x90"] },
  {
    name: "8K is scaled down to the highest rung",
    stored: plain(7680, 4320),
    options: {},
    expected: [
      "2160p 3840x2160",
      "1440p 2560x1440",
      "1080p 1920x1080",
      "720p 1280x720",
      "480p 854x480",
      "360p 640x360",
      "240p 426x240",
    ],
  },
  {
    name: "a width caps the top",
    stored: plain(1920, 1080),
    options: { width: 640 },
    expected: ["360p 640x360", "240p 426x240"],
  },
  {
    name: "a height caps the top",
    stored: plain(1920, 1080),
    options: { height: 600 },
    expected: ["600p 1066x600", "480p 854x480", "360p 640x360", "240p 426x240"],
  },
  {
    name: "a width never enlarges",
    stored: plain(640, 360),
    options: { width: 1920 },
    expected: ["360p 640x360", "240p 426x240"],
  },
  {
    name: "a cover box never enlarges",
    stored: plain(640, 360),
    options: { width: 1000, height: 1000, fit: "cover" },
    expected: ["360p 360x360", "240p 240x240"],
  },
  {
    name: "a contain box may be higher than its picture",
    stored: plain(640, 360),
    options: { width: 1000, height: 1000, fit: "contain" },
    expected: ["640p 640x640", "480p 480x480", "360p 360x360", "240p 240x240"],
  },
  {
    name: "wide pixels become square",
    stored: { width: 720, height: 576, pixel_aspect: 64 / 45, rotate: 0 },
    options: {},
    expected: ["576p 1024x576", "480p 854x480", "360p 640x360", "240p 426x240"],
  },
] as const)("rungs: $name", ({ stored, options, expected }) => {
  expect(sizes(stored, options)).toEqual(expected);
});

test("rungs share one rate factor, and each has its own bitrate limit", () => {
  expect(createLadder(plain(3840, 2160), { quality: "high" }).map(({ rate }) => rate)).toEqual(
    [16_000_000, 9_000_000, 5_500_000, 3_000_000, 1_600_000, 900_000, 400_000].map((maxrate) => ({
      crf: 20,
      maxrate,
    })),
  );
  expect(createLadder(plain(426, 240), {})[0]?.rate).toEqual({ crf: 23, maxrate: 400_000 });
});

test.for([
  [90, 400_000],
  [240, 400_000],
  [300, 650_000],
  [480, 1_600_000],
  [600, 2_300_000],
  [2160, 16_000_000],
  [4320, 16_000_000],
])("a short side of %s is limited to %s", ([side = 0, maxrate]) => {
  expect(maxrateFor(side)).toBe(maxrate);
});

test("rungs ascend in side and bitrate", () => {
  for (const [index, rung] of RUNGS.entries()) {
    const before = RUNGS[index - 1];
    if (before) expect(rung.side > before.side && rung.maxrate > before.maxrate).toBe(true);
  }
});

test("every rung has the same crop and proportional bars", () => {
  const options = { width: 720, height: 720, fit: "cover", position: "left" } as const;
  const crops = createLadder(plain(1920, 1080), options).map(({ geometry }) => geometry.crop);
  expect(crops).toEqual(Array(4).fill({ x: 0, y: 0, width: 1080, height: 1080 }));
  const bars = createLadder(plain(1280, 720), { width: 720, height: 720, background: "#fff" });
  expect(bars.map(({ geometry }) => geometry.pad)).toEqual([
    { width: 720, height: 720, x: 0, y: 158, color: "0xffffff" },
    { width: 480, height: 480, x: 0, y: 104, color: "0xffffff" },
    { width: 360, height: 360, x: 0, y: 78, color: "0xffffff" },
    { width: 240, height: 240, x: 0, y: 52, color: "0xffffff" },
  ]);
});

test("rejects a size above the limit", () => {
  expect(faultOf(() => createLadder(plain(1920, 1080), { width: "1000%" }))).toMatchObject({
    kind: "invalid_options",
    param: "options.width",
  });
});

test("each further codec has the rungs of H.264, with fewer bits", () => {
  const ladder = createLadder(plain(640, 360), { codecs: ["av1", "h264", "hevc"], quality: "low" });
  expect(ladder.map(({ name, codec, rate }) => [name, codec, rate])).toEqual([
    ["360p", undefined, { crf: 27, maxrate: 900_000 }],
    ["240p", undefined, { crf: 27, maxrate: 400_000 }],
    ["360p_h265", "h265", { crf: 32, maxrate: 675_000 }],
    ["240p_h265", "h265", { crf: 32, maxrate: 300_000 }],
    ["360p_av1", "av1", { crf: 43, maxrate: 675_000 }],
    ["240p_av1", "av1", { crf: 43, maxrate: 300_000 }],
  ]);
});
