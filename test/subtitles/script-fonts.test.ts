import { expect, test } from "vitest";
import { chooseFonts, type FontFile } from "../../src/subtitles/script-fonts.ts";

const file = (name: string, family: string, ranges: string): FontFile => ({
  ...{ name, family, ranges },
  size: 1,
  sha256: "",
});

const FILES = [
  file("thai", "Noto Sans Thai", "e01-e3a,e3f-e5b"),
  file("jp-kana", "Noto Sans JP", "3042-3093"),
  file("jp-kanji", "Noto Sans JP", "65e5,672c,8a9e"),
  file("kr-hangul", "Noto Sans KR", "ac00-d7a3"),
  file("kr-hanja", "Noto Sans KR", "65e5,672c"),
  file("sc", "Noto Sans SC", "4f60,65e5,672c"),
];

test.for([
  { text: "ไทย", fonts: ["thai"], of: "Thai" },
  { text: "日本のあ", fonts: ["jp-kanji", "jp-kana"], of: "Japanese, which has kana" },
  { text: "日한", fonts: ["kr-hanja", "kr-hangul"], of: "Korean, which has hangul" },
  { text: "日本", fonts: ["sc"], of: "Chinese, which has neither" },
  { text: "日語", fonts: ["sc", "jp-kanji"], of: "Chinese with a letter that only the Japanese font has" },
  { text: "ๅ\u{1f9d1}", fonts: ["thai"], of: "a letter that no font has" },
])("the fonts of $of are $fonts", ({ text, fonts }) => {
  expect(chooseFonts([...text], FILES).map(({ name }) => name)).toEqual(fonts);
});
