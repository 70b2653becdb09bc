import { expect, test } from "vitest";
import { decodeSubtitles, readSubtitleFile } from "../../src/subtitles/text-formats.ts";

const read = (text: string) => {
  const file = readSubtitleFile(decodeSubtitles(new TextEncoder().encode(text)) ?? "");
  if (!file) return null;
  const cues = [...file.cues].map(
    (cue) => cue && [cue.start, cue.end, cue.text, ...(cue.settings ? [cue.settings] : [])].join(" "),
  );
  return [file.format, ...cues];
};

const ASS = "[Script Info]\n; of a program\n\n[V4+ Styles]\nStyle: Dialogue: 0\n\n[Events]\n";

test.for([
  {
    text: "1\n00:00:01,000 --> 00:00:02,500\nOne\n\n2\n00:01:00,5 --> 01:00:00,000 X1:0\n<i>Two</i>\nlines\n",
    expected: [...["subrip", "1000 2500 One", "60500 3600000 <i>Two</i>\nlines"]],
  },
  // Empty lines, numbers as text, and numbers that are missing or end the file.
  {
    text: "\r\n00:01 --> 00:02\r\nA\r\n\r\nB\r\n 42\r\n\r\n7\r\n00:03,1 --> 00:04\r\n1984\r\n\r\n",
    expected: [...["subrip", "1000 2000 A\nB\n 42", "3100 4000 1984"]],
  },
  {
    text: 'WEBVTT - title\nX-TIMESTAMP-MAP=MPEGTS:9,LOCAL:00:00.000\n\nSTYLE\n::cue {}\n\nNOTE\nno cue\n\nid\n00:01.000 --> 00:02.000 line:0 region:x size:50% x:"\n<v Bob>Hi</v> &amp; bye\n\nNOTE end\n\n01:00:00.000 --> 01:00:00.250\nlate',
    expected: [...["webvtt", "1000 2000 Hi &amp; bye line:0 size:50%", "3600000 3600250 late"]],
  },
  { text: "WEBVTT", expected: ["webvtt"] },
  { text: "WEBVTTX\n\n00:01.000 --> 00:02.000\nno header", expected: ["subrip", "1000 2000 no header"] },
  {
    text: `\ufeff${ASS}Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\nComment: 0,0:00:00.00,0:00:01.00,,,0,0,0,,no\nDialogue: 0,0:00:01.25,0:00:02.5,Default,,0,0,0,,{\\an8}Top, {\\b1}bold\\Nline\nDialogue: 0,soon,0:00:02.50,Default,,0,0,0,,no time\nDialogue: 0\n[Fonts]\nDialogue: 0,0:00:01.25,0:00:02.50,Default,,0,0,0,,no event`,
    expected: [...["ass", "1250 2500 Top, <b>bold\nline</b> line:0"]],
  },
  {
    text: `${ASS}Format: End, Start, Text\nDialogue: 0:00:02.00,0:00:01.00,a, b`,
    expected: ["ass", "1000 2000 a, b"],
  },
  {
    text: `${ASS}Dialogue: Marked=0,0:00:01.00,0:00:02.00,Default,,0,0,0,,as in SSA`,
    expected: ["ass", "1000 2000 as in SSA"],
  },
  { text: "", expected: null },
  { text: "Only text\n", expected: null },
  { text: "{25}{50}MicroDVD", expected: null },
  { text: "<tt xmlns='http://www.w3.org/ns/ttml'><body/></tt>", expected: null },
  { text: `WEBVTT\0`, expected: null },
] as const)("file %#: $text", ({ text, expected }) => {
  expect(read(text)).toEqual(expected);
});

test.for([
  { name: "UTF-8 with its mark", bytes: [0xef, 0xbb, 0xbf, 0xc3, 0xa4], expected: "ä" },
  { name: "UTF-16LE", bytes: [0xff, 0xfe, 0xe4, 0, 0x3d, 0xd8, 0, 0xde], expected: "ä😀" },
  { name: "UTF-16BE", bytes: [0xfe, 0xff, 0, 0xe4, 0, 13, 0, 10, 0, 13], expected: "ä\n\n" },
  { name: "UTF-16 without a mark", bytes: [0x61, 0, 0x62, 0], expected: null },
  { name: "half a letter of UTF-16", bytes: [0xff, 0xfe, 0x3d, 0xd8], expected: null },
  { name: "UTF-32", bytes: [0xff, 0xfe, 0, 0, 0x61, 0, 0, 0], expected: null },
  { name: "Windows-1252", bytes: [0x61, 0xe4, 0x62], expected: null },
] as const)("$name", ({ bytes, expected }) => {
  expect(decodeSubtitles(Uint8Array.from(bytes))).toBe(expected);
});

test.for(["0", " ", "\n", "00:01 --> 00:02\n", "[", "; \n", "1\n"])(
  "megabytes of %j are read in one go",
  (each) => {
    const text = each.repeat(2 ** 22 / each.length);
    for (const head of ["", "WEBVTT\n\n", "00:01 --> 00:02\n", ASS]) {
      const { cues = [] } = readSubtitleFile(head + text) ?? {};
      expect([...cues].length).toBeLessThan(3);
    }
  },
);

test("a text that nobody reads stands out, and the others are read", () => {
  const long = "{}".repeat(40_000);
  expect(read(`00:01 --> 00:02\n${long}\n\n00:03 --> 00:04\nB`)).toEqual(["subrip", null, "3000 4000 B"]);
  expect(read(`WEBVTT\n\n00:01 --> 00:02 ${long}\nA\n\n00:03 --> 00:04\nB`)).toEqual([
    "webvtt",
    null,
    "3000 4000 B",
  ]);
  const event = (text: string) => `Dialogue: 0,0:00:01.00,0:00:02.00,,,0,0,0,,${text}\n`;
  expect(read(ASS + event(long) + event("B"))).toEqual(["ass", null, "1000 2000 B"]);
});
