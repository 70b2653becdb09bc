import { expect, test } from "vitest";
import { placeOf } from "./task-words.ts";

test.for([
  ["https://example.com/films/holiday%20one.mov?token=secret#t=3", "example.com", "holiday one.mov"],
  ["http://127.0.0.1:8787/media/signature.1795170600/in/upload_1/clip.mp4", "127.0.0.1:8787", "clip.mp4"],
  ["s3://bucket/films/clip.mp4", "s3://bucket", "clip.mp4"],
  ["https://user:secret@example.com/%E0%A4%A", "example.com", "%E0%A4%A"],
  ["https://example.com/films/", "example.com", "films"],
  ["https://example.com", "example.com", ""],
  ["no url", "", "no url"],
] as const)("%s is %s at %s", ([url, host, name]) => {
  expect(placeOf(url)).toEqual({ host, name });
});
