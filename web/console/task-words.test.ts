import { expect, test } from "vitest";
import { placeOf } from "./task-words.ts";

test.for([
  {
    url: "https://example.com/films/holiday%20one.mov?token=secret#t=3",
    host: "example.com",
    name: "holiday one.mov",
  },
  {
    url: "http://127.0.0.1:8787/media/signature.1795170600/in/upload_1/clip.mp4",
    host: "127.0.0.1:8787",
    name: "clip.mp4",
  },
  { url: "s3://bucket/films/clip.mp4", host: "s3://bucket", name: "clip.mp4" },
  { url: "https://user:secret@example.com/%E0%A4%A", host: "example.com", name: "%E0%A4%A" },
  { url: "https://example.com/films/", host: "example.com", name: "films" },
  { url: "https://example.com", host: "example.com", name: "" },
  { url: "no url", host: "", name: "no url" },
] as const)("$url is $host at $name", ({ url, host, name }) => {
  expect(placeOf(url)).toEqual({ host, name });
});
