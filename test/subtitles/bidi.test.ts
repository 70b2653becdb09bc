import { expect, test } from "vitest";
import { markBrackets } from "../../src/subtitles/bidi.ts";

const [L, R] = ["\u200e", "\u200f"];

// Unicode's bidirectional algorithm, rule N0, and its examples.
test.for([
  { text: "hello (you)", marked: "hello (you)" },
  { text: "אבג (דה) abc (de)", marked: `אבג ${R}(${R}דה${R})${R} abc ${L}(${L}de${L})${L}` },
  { text: "a אבג (דה)", marked: `a אבג ${R}(${R}דה${R})${R}` },
  { text: "a [אבג (x) דה]", marked: `a ${L}[${L}אבג ${L}(${L}x${L})${L} דה${L}]${L}` },
  { text: "אבג (12)", marked: `אבג ${R}(${R}12${R})${R}` },
  { text: "אבג (.) ) (", marked: "אבג (.) ) (" },
  { text: "abc (de)\nאבג (דה)", marked: `abc ${L}(${L}de${L})${L}\nאבג ${R}(${R}דה${R})${R}` },
])("brackets of $text have a direction", ({ text, marked }) => {
  expect(markBrackets([text])).toEqual([marked]);
  const halves = markBrackets([text.slice(0, 5), text.slice(5)]);
  expect(halves.join("")).toBe(marked);
});
