import { afterAll, beforeAll, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import type { Answer } from "../fixtures/origin.ts";
import { readCues } from "../judge/cues.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
let input: string;
beforeAll(async () => {
  rig = await openRig();
  input = rig.serve(await clip("mp4", { seconds: 2 }));
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const SRT =
  "1\r\n00:00:00,500 --> 00:00:01,250\r\n<i>Éins</i>\r\n\r\n2\r\n00:00:01,500 --> 00:00:03,000\r\nTwo\r\n";
const CUES = ["0.500 1.250 <i>Éins</i>", "1.500 2.000 Two"];
const utf8 = (text: string) => new TextEncoder().encode(text);
const utf16 = Uint8Array.from(
  [...`\ufeff${SRT}`]
    .flatMap((letter) => [0, letter.charCodeAt(0)])
    .with(0, 0xfe)
    .with(1, 0xff),
);
const url = (path: string, answer: Answer) => rig.origin.serve(path, answer);

test.for([
  { encoder: "light", format: "mp4", options: {} },
  { encoder: "native", format: "mp4", options: { codec: "h265" } },
  { encoder: "light", format: "mp4", options: { mode: "copy" } },
] as const)(
  "files of subtitles become text tracks: $encoder $format $options",
  LIMIT,
  async ({ encoder, format, options }) => {
    const subtitles = [
      // Neither names nor types say what they are, and no length is declared.
      {
        url: url("/a", { file: utf16, chunked: true, ranges: false, mime: "text/html" }),
        language: "de",
        default: true,
      },
      { url: url("/b.srt", { file: utf8("WEBVTT\n\n00:00.250 --> 00:01.000\nA\n") }), label: "B" },
    ];
    const body = { input, kind: "video" as const, options: { format, subtitles, ...options } };
    const { path, task } = await rig.door.encode(
      "mode" in options ? body : { ...body, options: { ...body.options, width: 64 } },
    );
    expect(task.steps[2]?.output).toMatchObject({ encoder });
    expect(await readCues(path, 0)).toEqual(CUES);
    expect(await readCues(path, 1)).toEqual(["0.250 1.000 A"]);
    expect(task.steps[2]?.output?.streams?.filter(({ kind }) => kind === "subtitle")).toMatchObject([
      { codec: "mov_text", language: "deu", default: true },
      { title: "B" },
    ]);
  },
);

test("a stream has them in HLS and DASH", LIMIT, async () => {
  const label = "Q\", DEFAULT=YES,'<&>";
  const subtitles = [
    { url: url("/s1", { file: utf8(SRT) }), language: "pt-br", label },
    { url: url("/s2", { file: utf8(SRT) }), label: '"', default: true },
  ];
  const options = { format: "hls_dash", width: 64, subtitles };
  const task = await rig.door.runTask({ input, kind: "adaptive_video", options });
  const master = await (await fetch(task.output ?? "")).text();
  const group = (facts: string, folder: string) =>
    `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subtitles",${facts},AUTOSELECT=YES,FORCED=NO,URI="${folder}/playlist.m3u8"`;
  expect(master.split("\n").filter((line) => line.includes("SUBTITLES,"))).toEqual([
    group(`NAME="Q, DEFAULT=YES,'<&>",LANGUAGE="pt-BR",DEFAULT=NO`, "subtitles"),
    group('NAME="Track 2",DEFAULT=YES', "subtitles_1"),
  ]);
  const playlist = String(new URL("subtitles/playlist.m3u8", task.output ?? ""));
  expect(await readCues(playlist, 0)).toEqual(CUES);
  const at = async (name: string) => (await fetch(new URL(name, task.output ?? ""))).text();
  expect(await at("subtitles_1/period_0.vtt")).toBe(
    "WEBVTT\n\n00:00:00.500 --> 00:00:01.250\n<i>Éins</i>\n\n00:00:01.500 --> 00:00:02.000\nTwo\n\n",
  );
  expect(await at("manifest.mpd")).toContain("<Label>Q, DEFAULT=YES,'&lt;&amp;></Label>");
});

test.for([
  { name: "missing", answer: { status: 404 }, kind: "input_not_found", message: "" },
  {
    name: "a picture",
    answer: { file: Uint8Array.of(0x89, 0x50, 0x4e, 0x47) },
    kind: "input_unsupported",
    message: "The file must be text in UTF-8",
  },
  {
    name: "in Latin-1",
    answer: { file: Uint8Array.from(SRT, (letter) => letter.charCodeAt(0)) },
    kind: "input_unsupported",
    message: "The file must be text in UTF-8",
  },
  {
    name: "no subtitles",
    answer: { file: utf8("<tt/>") },
    kind: "input_unsupported",
    message: "The file must be subtitles in SRT, WebVTT, ASS or SSA.",
  },
  {
    name: "large",
    answer: { file: new Uint8Array(9e6) },
    kind: "input_too_large",
    message: "The file must be subtitles of at most 8 MiB.",
  },
  {
    name: "endless",
    answer: { file: new Uint8Array(13e6), chunked: true, ranges: false },
    kind: "input_too_large",
    message: "The file must be subtitles of at most 8 MiB.",
  },
] as const)("a task whose subtitles are $name says so", LIMIT, async ({ name, answer, kind, message }) => {
  const bad = url(`/${name.replaceAll(" ", "-")}`, answer);
  const subtitles = [{ url: url("/good", { file: utf8(SRT) }) }, { url: bad }];
  const { status, error } = await rig.door.runTask({ input, kind: "video", options: { subtitles } });
  expect([status, error?.kind]).toEqual(["failed", kind]);
  expect(error?.message).toContain(`options.subtitles.1.url: ${message}`);
});

test("a stream of sound alone has no place for them", LIMIT, async () => {
  const sound = rig.serve(await clip("wav"));
  const subtitles = [{ url: url("/good", { file: utf8(SRT) }) }];
  const { error } = await rig.door.runTask({ input: sound, kind: "adaptive_video", options: { subtitles } });
  expect(error?.kind).toBe("input_no_video");
});
