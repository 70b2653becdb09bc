import { expect, test } from "vitest";
import { readAssBlock } from "../../src/subtitles/ass.ts";
import { type Cue, flattenCues, shiftCues } from "../../src/subtitles/cue.ts";
import { readSubripText, readWebvttBlock } from "../../src/subtitles/text-formats.ts";
import { readTimedText, writeTimedText } from "../../src/subtitles/timed-text.ts";
import { threeLetters } from "../../src/util/text.ts";

test.for([
  { text: "plain", expected: "plain", settings: "" },
  { text: "<I>a</i> <b class=x>b</B>", expected: "<i>a</i> <b>b</b>", settings: "" },
  { text: "<b>never closed", expected: "<b>never closed</b>", settings: "" },
  { text: "</i>never opened", expected: "never opened", settings: "" },
  { text: "<b><i>both</b> one</i>", expected: "<b><i>both</i></b><i> one</i>", settings: "" },
  { text: "I <3 you & <John>", expected: "I &lt;3 you &amp; &lt;John&gt;", settings: "" },
  { text: "<script>alert(1)</script>", expected: "&lt;script&gt;alert(1)&lt;/script&gt;", settings: "" },
  { text: "a --> b", expected: "a --&gt; b", settings: "" },
  { text: "{\\an8}top", expected: "top", settings: "line:0" },
  { text: "{\\an2}bottom", expected: "bottom", settings: "" },
  { text: "one\r\n\r\n \r\ntwo\r\n", expected: "one\ntwo", settings: "" },
  { text: "&lt;i&gt; &amp;amp; &#228;&#x1F600;", expected: "&lt;i&gt; &amp;amp; ä😀", settings: "" },
  { text: "&#xD800;&nothing;", expected: "&amp;#xD800;&amp;nothing;", settings: "" },
] as const)("SubRip $text", ({ text, expected, settings }) => {
  expect(readSubripText(text)).toEqual({ text: expected, settings });
});

test.for([
  {
    event: "0,0,Default,,0,0,0,,{\\i1\\b1}both{\\b0} one\\Ntwo",
    text: "<b><i>both</i></b><i> one\ntwo</i>",
    settings: "",
  },
  { event: "0,0,Default,,0,0,0,,a, b{\\fad(1,2)}\\h{comment}c", text: "a, b\u00a0c", settings: "" },
  { event: "0,0,Default,,0,0,0,,{\\an8\\b700}top{\\r} plain", text: "<b>top</b> plain", settings: "line:0" },
  { event: "0,0,Default,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}", text: null, settings: "" },
  { event: "0,0,Default", text: null, settings: "" },
] as const)("an event of ASS $event", ({ event, text, settings }) => {
  expect(readAssBlock(event)).toEqual(text === null ? null : { text, settings });
});

test.for([
  {
    block: "1\nline:0  align:start\n<v Bob>Hi</v> <c.red>red</c> <00:01.000>late",
    text: "Hi red late",
    settings: "line:0 align:start",
  },
  { block: "\n\n<u>a</u> &lt;b&gt;\nc", text: "<u>a</u> &lt;b&gt;\nc", settings: "" },
  { block: "\n\n", text: null, settings: "" },
] as const)("a block of WebVTT $block", ({ block, text, settings }) => {
  expect(readWebvttBlock(block)).toEqual(text === null ? null : { text, settings });
});

test.for(["plain", "<b>b</b> and <i>äö😀 i</i>\nmore", "&lt;a&gt; &amp;", "<b><i><u>all</u></i></b>"])(
  "timed text has what was written: %s",
  (text) => {
    expect(readTimedText(writeTimedText(text))).toEqual({ text, settings: "" });
  },
);

test("timed text may be in UTF-16, and its styles and lengths may be wrong", () => {
  const wide = Uint8Array.of(0, 6, 0xfe, 0xff, 0x00, 0xe4, 0x00, 0x41);
  expect(readTimedText(wide)).toEqual({ text: "äA", settings: "" });
  const cut = writeTimedText("<b>bold</b> text");
  for (let end = 0; end < cut.length; end++) readTimedText(cut.subarray(0, end));
  cut.fill(0xff, 11);
  expect(readTimedText(cut)?.text).toContain("bold");
});

const cue = (start: number, end: number, text: string): Cue => ({ start, end, text, settings: "" });

test("cues are cut to what is shown, and moved", () => {
  const cues = [cue(9000, 9500, "late"), cue(-500, 1500, "a"), cue(2000, 2000, "none"), cue(0, 900, "early")];
  const shown = { start: 1, duration: 4, speed: 2 };
  expect(shiftCues([...cues, cue(8000, 12_000, "last")], shown)).toEqual([
    cue(0, 250, "a"),
    cue(3500, 4000, "last"),
  ]);
});

test("a megabyte of tags that never close is read in one go", () => {
  const text = "<b <a ".repeat(150_000);
  expect(readWebvttBlock(`\n\n${text}`)?.text.length).toBeGreaterThan(text.length);
});

test("overlapping cues become consecutive ones, and a crowd of them is kept", () => {
  const cues = [cue(0, 10, "a"), cue(2, 6, "b"), cue(6, 8, "c"), cue(20, 30, "d")];
  expect([...flattenCues(cues)]).toEqual([
    ...[cue(0, 2, "a"), cue(2, 6, "a\nb"), cue(6, 8, "a\nc"), cue(8, 10, "a"), cue(20, 30, "d")],
  ]);
  const crowd = Array.from({ length: 400 }, (_, index) => cue(0, 100, `${index}`));
  expect([...flattenCues(crowd)].map(({ text }) => text.split("\n").length)).toEqual([400]);
});

test.for([
  { language: "de", expected: "deu" },
  { language: "en-US", expected: "eng" },
  { language: "nl", expected: "nld" },
  { language: "ger", expected: "ger" },
  { language: "zz", expected: "und" },
  { language: undefined, expected: "und" },
  { language: "not a language", expected: "und" },
] as const)("three letters for $language are $expected", ({ language, expected }) => {
  expect(threeLetters(language)).toBe(expected);
});
