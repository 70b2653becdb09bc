import { expect, test } from "vitest";
import { urlsIn } from "./add-inputs.tsx";

test.for([
  { text: "https://a.example/b.mp4", urls: ["https://a.example/b.mp4"] },
  { text: "  http://a.example/b\r\nHTTPS://c.example \n", urls: ["http://a.example/b", "HTTPS://c.example"] },
  { text: "look at https://a.example/b.mp4", urls: [] },
  { text: "ftp://a.example/b", urls: [] },
  { text: "javascript:alert(1)", urls: [] },
  { text: "https://", urls: [] },
  { text: "", urls: [] },
] as const)("the URLs in $text are $urls", ({ text, urls }) => {
  expect(urlsIn(text)).toEqual(urls);
});
