import type { Box } from "../isobmff/boxes.ts";

/** Colors of a picture, in ffprobe's terms; what is unknown is absent. */
export interface ColorFacts {
  color_primaries?: string;
  color_transfer?: string;
  color_space?: string;
  color_range?: string;
}

// Rec. ITU-T H.273, tables 2 to 4, under ffmpeg's names.
const PRIMARIES: Readonly<Record<number, string>> = {
  1: "bt709",
  5: "bt470bg",
  6: "smpte170m",
  9: "bt2020",
  12: "smpte432",
};
const TRANSFERS: Readonly<Record<number, string>> = {
  1: "bt709",
  6: "smpte170m",
  13: "iec61966-2-1",
  16: "smpte2084",
  18: "arib-std-b67",
};
const MATRICES: Readonly<Record<number, string>> = {
  0: "gbr",
  1: "bt709",
  5: "bt470bg",
  6: "smpte170m",
  9: "bt2020nc",
};

/** Reads the colors of a picture in HEIF: an ICC profile's primaries where there is one, as viewers do, else the numbers. */
export function readColor(view: DataView, properties: readonly Box[]): ColorFacts {
  const facts: ColorFacts = {};
  for (const { kind, start, end } of properties) {
    if (kind !== "colr") continue;
    const type = view.getUint32(start);
    if (type === NCLX) Object.assign(facts, numbered(view, start + 4), facts);
    else if (type === PROF || type === RICC) {
      const primaries = profilePrimaries(
        new DataView(view.buffer, view.byteOffset + start + 4, end - start - 4),
      );
      if (primaries) Object.assign(facts, { color_primaries: primaries, color_transfer: "iec61966-2-1" });
    }
  }
  return facts;
}

const [NCLX, PROF, RICC] = [0x6e636c78, 0x70726f66, 0x72494343];

function numbered(view: DataView, at: number): ColorFacts {
  const [primaries, transfer, matrix] = [0, 2, 4].map((place) => view.getUint16(at + place)) as [
    number,
    number,
    number,
  ];
  const named = [
    ["color_primaries", PRIMARIES[primaries]],
    ["color_transfer", TRANSFERS[transfer]],
    ["color_space", MATRICES[matrix]],
    ["color_range", view.getUint8(at + 6) & 0x80 ? "pc" : "tv"],
  ];
  return Object.fromEntries(named.filter(([, name]) => name !== undefined));
}

// X and Y of red and green under D50, as profiles of these primaries have them.
const COLORANTS = {
  smpte432: [0.515, 0.241, 0.292, 0.692],
  bt709: [0.436, 0.222, 0.385, 0.717],
  bt2020: [0.673, 0.279, 0.166, 0.675],
} as const;
const CLOSE = 0.004;

// ICC.1:2022: a table of tags from byte 128 on; that of a colorant holds X, Y and Z in 16.16 bits.
function profilePrimaries(profile: DataView): keyof typeof COLORANTS | null {
  if (profile.byteLength < 132) return null;
  const tags = Math.min(profile.getUint32(128), 100);
  const colorant = (name: number): number[] => {
    for (let index = 0; index < tags && 144 + 12 * index <= profile.byteLength; index++) {
      if (profile.getUint32(132 + 12 * index) !== name) continue;
      const at = profile.getUint32(136 + 12 * index) + 8;
      if (at + 8 > profile.byteLength) return [];
      return [profile.getInt32(at) / 65_536, profile.getInt32(at + 4) / 65_536];
    }
    return [];
  };
  const found = [...colorant(0x7258595a), ...colorant(0x6758595a)];
  const names = Object.keys(COLORANTS) as (keyof typeof COLORANTS)[];
  const isNear = (name: keyof typeof COLORANTS) =>
    COLORANTS[name].every((value, index) => Math.abs(value - (found[index] ?? 9)) < CLOSE);
  return names.find(isNear) ?? null;
}
