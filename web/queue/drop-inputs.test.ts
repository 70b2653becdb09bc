import { expect, test } from "vitest";
import { urlsIn } from "./drop-inputs.ts";

test.for([
  ["https://a.example/b.mp4", ["https://a.example/b.mp4"]],
  ["  http://a.example/b\r\nHTTPS://c.example \n", ["http://a.example/b", "HTTPS://c.example"]],
  ["look at https://a.example/b.mp4", []],
  ["ftp://a.example/b", []],
  ["javascript:alert(1)", []],
  ["https://", []],
  ["", []],
] as const)("the URLs in %j are %j", ([text, urls]) => {
  expect(urlsIn(text)).toEqual(urls);
});
