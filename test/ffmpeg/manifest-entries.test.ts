import { expect, test } from "vitest";
import { manifestEntries, manifestsOf, replaceEntries } from "../../src/media/ffmpeg/manifest-entries.ts";
import { parseDash, writeDash } from "../../src/media/ffmpeg/manifests.ts";

const PLAYLIST = [
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

const run = (folder: string, init: string, first: number, ...lengths: number[]) => ({
  init: `${folder}/${init}`,
  segments: lengths.map((seconds, index) => {
    const name = `${folder}/seg_${String(first + index).padStart(5, "0")}.m4s`;
    return { name, seconds, line: `#EXTINF:${seconds},` };
  }),
});

// The second run of pictures has its own init segment, the third skips a number.
const DASH = writeDash({
  pictures: [
    {
      ...{ folder: "360p", codecs: "avc1.64001e", width: 640, height: 360 },
      rate: { peak: 800_000.2, average: 700_000 },
      runs: [
        run("360p", "init_0.mp4", 0, 6.006, 6.006),
        run("360p", "init_1.mp4", 2, 5.988),
        run("360p", "init_1.mp4", 4, 6.006, 1.5),
      ],
    },
  ],
  sounds: [
    {
      ...{
        folder: "audio",
        codecs: "mp4a.40.2",
        channels: 2,
        priming: 0.016,
        language: "en",
        name: "English",
      },
      rate: { peak: 128_000, average: 127_000 },
      runs: [run("audio", "init_5.mp4", 0, 6.016, 5.994667, 5.994667, 6.016, 1.6)],
    },
  ],
  fps: 30_000 / 1001,
});

test("a DASH manifest has exact times, and a period for each init segment and gap in the numbers", () => {
  const tags = (name: string, text = DASH) =>
    text.match(new RegExp(`<${name}\\b[^>]*>`, "g"))?.map((tag) => tag.replace(/^<\w+ |\/?>$/g, ""));
  expect(tags("MPD")?.[0]).toContain(
    'profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" mediaPresentationDuration="PT25.605334S"',
  );
  expect(tags("Period")).toEqual(['id="0" start="PT0S"', 'id="1" start="PT12.012S"', 'id="2" start="PT18S"']);
  expect(tags("Representation")?.slice(0, 2)).toEqual([
    'id="360p" codecs="avc1.64001e" bandwidth="800001" width="640" height="360" frameRate="30000/1001"',
    'id="audio" codecs="mp4a.40.2" bandwidth="128000"',
  ]);
  expect(tags("AdaptationSet")?.[1]).toBe(
    'contentType="audio" mimeType="audio/mp4" segmentAlignment="true" startWithSAP="1" lang="en"',
  );
  const periods = DASH.split("</Period>").slice(0, 3);
  expect(periods.map((period) => tags("S", period))).toEqual([
    ['t="0" d="6006000" r="1"', 't="0" d="6000000"', 'd="5994667"'],
    ['t="12012000" d="5988000"', 't="11994667" d="5994667"'],
    // The last picture segment reaches the end of the sound.
    ['t="18000000" d="6006000"', 'd="1599334"', 't="17989334" d="6016000"', 'd="1600000"'],
  ]);
  const template = (index: number) => tags("SegmentTemplate", periods[index])?.[0];
  expect(template(2)).toBe(
    'timescale="1000000" presentationTimeOffset="18000000" initialization="360p/init_1.mp4" media="360p/seg_$Number%05d$.m4s" startNumber="4"',
  );
  expect(parseDash(DASH)).toEqual([
    { id: "360p", bitrate: 928_001, codecs: "avc1.64001e,mp4a.40.2", width: 640, height: 360 },
  ]);
});

test("lists what playlists and manifests name once, without comments and other tags", () => {
  const entries = ["audio/index.m3u8", "init_0.mp4", "seg_00000.m4s", "seg_00001.m4s"];
  expect(manifestEntries(PLAYLIST)).toEqual(entries);
  const pictures = ["init_0", "seg_00000", "seg_00001", "init_1", "seg_00002", "seg_00004", "seg_00005"];
  const sound = ["init_5", ...[0, 1, 2, 3, 4].map((number) => `seg_0000${number}`)];
  const ending = (name: string) => `${name}.${name.startsWith("init") ? "mp4" : "m4s"}`;
  expect(manifestEntries(DASH).toSorted()).toEqual([
    ...pictures.map((name) => `360p/${ending(name)}`).toSorted(),
    ...sound.map((name) => `audio/${ending(name)}`).toSorted(),
  ]);
});

test("replaces every entry, and lists the segments of DASH", async () => {
  const urlOf = async (uri: string) => `blob:page/$&${uri}`;
  expect(manifestEntries(await replaceEntries(PLAYLIST, urlOf))).toEqual(
    await Promise.all(manifestEntries(PLAYLIST).map(urlOf)),
  );
  const listed = await replaceEntries(DASH, urlOf);
  const urls = [...listed.matchAll(/(?:sourceURL|media)="([^"]*)"/g)].map(([, url]) => url);
  expect([...new Set(urls)]).toEqual(await Promise.all(manifestEntries(DASH).map(urlOf)));
  expect(listed).not.toContain("SegmentTemplate");
  expect(listed).toContain('<SegmentList timescale="1000000" presentationTimeOffset="18000000">');
});

test("a stream in both formats has two manifests, the one to open last", () => {
  expect(manifestsOf("https://x.example/a/main.m3u8", "hls")).toEqual(["https://x.example/a/main.m3u8"]);
  expect(manifestsOf("a/manifest.mpd", "dash")).toEqual(["a/manifest.mpd"]);
  expect(manifestsOf("a/main.m3u8", "hls_dash")).toEqual(["a/manifest.mpd", "a/main.m3u8"]);
});
