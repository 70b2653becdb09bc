import { expect, test } from "vitest";
import { playlistEntries } from "./playlist-entries.ts";

test("lists playlists and segments once, without comments and other tags", () => {
  const text = [
    "#EXTM3U",
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="a",URI="audio/index.m3u8"',
    '#EXT-X-MAP:URI="init_0.mp4"',
    "#EXTINF:6.000,",
    "seg_00000.m4s",
    "# seg_none.m4s",
    '#EXT-X-MAP:URI="init_0.mp4"',
    "seg_00001.m4s",
    "",
  ].join("\r\n");
  const entries = ["audio/index.m3u8", "init_0.mp4", "seg_00000.m4s", "seg_00001.m4s"];
  expect(playlistEntries(text)).toEqual(entries);
});
