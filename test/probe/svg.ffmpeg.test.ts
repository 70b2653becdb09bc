import { expect, test } from "vitest";
import { probeMedia } from "../../src/probe/probe.ts";
import { decodeSvg, sizeSvg } from "../../src/probe/svg.ts";
import {
  BOMBS,
  LAUGHS,
  LONG,
  pictured,
  QUARTERS,
  RICH,
  reaching,
  SLOW,
  svg,
  TANGLES,
} from "../fixtures/svg.ts";
import { bytesReader } from "./probe-file.ts";

const declaring = (encoding: string) =>
  `<?xml version="1.0" encoding="${encoding}"?>\n${svg('width="40" height="30"', "<title>Café</title>")}`;
const encode = (text: string) => new TextEncoder().encode(text);

function probe(bytes: Uint8Array) {
  const ffprobe = () => Promise.reject(new Error("An SVG needs no ffprobe."));
  return probeMedia(
    bytesReader(bytes),
    { url: "https://example.com/a" },
    ffprobe,
    AbortSignal.timeout(10_000),
  );
}

test("an SVG is a transparent picture, known by its content", async () => {
  const adobe = `\ufeff<?xml version="1.0" encoding="utf-8"?>
<!-- Generator: <b> "it's" -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd" [
  <!ENTITY ns_svg "http://www.w3.org/2000/svg">
]>
<svg:svg xmlns:svg="&ns_svg;" width='2in' height="1in" data-a="1>0"></svg:svg>`;
  expect(await probe(encode(adobe))).toEqual({
    ...{
      object: "source",
      url: "https://example.com/a",
      kind: "image",
      format: "svg",
      mime: "image/svg+xml",
    },
    ...{ filesize: encode(adobe).length, width: 192, height: 96, coded_width: 192, coded_height: 96 },
    ...{ sample_aspect_ratio: "1:1", rotation: 0, has_alpha: true, animated: false },
    ...{ codecs: { video: "svg", audio: null }, streams: [{ index: 0, kind: "video", codec: "svg" }] },
  });
});

test.for([
  ["ISO-8859-1", Buffer.from(declaring("ISO-8859-1"), "latin1")],
  ["UTF-16", Buffer.from(`\ufeff${declaring("UTF-16")}`, "utf16le")],
  ["UTF-16 in UTF-8", Buffer.from(declaring("UTF-16"))],
] as const)("an SVG may be in %s", async ([, bytes]) => {
  expect(await probe(bytes)).toMatchObject({ format: "svg", width: 40, height: 30 });
  expect(decodeSvg(bytes)).toContain("<title>Café</title>");
});

test.for([
  { attributes: 'width="90" height="30.4px"', size: [90, 30] },
  { attributes: 'width="72pt" height="1.5in" viewBox="0 0 4 4"', size: [96, 144] },
  { attributes: 'viewBox="0 0 24 12.6"', size: [24, 13] },
  { attributes: 'viewBox="-5,-5 , 20 10" width="100%" height="100%"', size: [20, 10] },
  { attributes: 'viewBox="0 0 20 10" width="100"', size: [100, 50] },
  { attributes: 'viewBox="0 0 20 10" height="2.54cm"', size: [192, 96] },
  { attributes: 'viewBox="0 0 0 10" width="-4" height="auto"', size: [300, 150] },
  { attributes: 'style="width: 9px"', size: [300, 150] },
  { attributes: 'width="40"', size: [40, 150] },
  { attributes: 'width="0.2" height="1e2"', size: [1, 100] },
] as const)("the size of an SVG with $attributes", async ({ attributes, size }) => {
  const { width, height } = await probe(encode(svg(attributes)));
  expect([width, height]).toEqual(size);
});

test("a size is written into the root", () => {
  expect(
    sizeSvg(`<?xml version="1.0" encoding="ascii"?><svg a="width" height='9' viewBox="0 0 8 4"/>`, {
      width: 8,
      height: 4,
    }),
  ).toBe(`<svg width="8" height="4" a="width"  viewBox="0 0 8 4"/>`);
  expect(sizeSvg(`<svg width="2in" height="9.5"><g height="1"/></svg>`, { width: 192, height: 10 })).toBe(
    `<svg width="192" height="10" viewBox="0 0 192 9.5"  ><g height="1"/></svg>`,
  );
});

const icons = svg(
  'viewBox="0 0 8 8"',
  `<defs><g id="a">${'<path fill="#abc" d="M0 0h8v8z"/>'.repeat(200)}</g></defs>${'<use href="#a"/>'.repeat(500)}`,
);

// Illustrator writes patterns like this.
const patterned = `<!DOCTYPE svg [<!ATTLIST svg xmlns:x CDATA #FIXED "http://www.w3.org/1999/xlink#">]>${svg(
  'viewBox="0 0 8 8"',
  `<style>.cls-1, .cls-2 > g:hover{fill:url(#l)} @font-face{src:url(data:font/woff;base64,AA==)}</style><linearGradient id="l">${"<stop/>".repeat(9)}</linearGradient><a href="#l">${'<path class="cls-1" fill="#123"/>'.repeat(20_000)}</a>`,
)}`;

test.for([
  ["many icons", icons],
  ["a part that contains itself", svg("", '<g id="a"><use href="#a"/></g>')],
  ["a picture of quarters", QUARTERS],
  ["links to elsewhere", reaching("https://example.com")],
  ["a picture in a picture", pictured(`;base64,${Buffer.from(QUARTERS).toString("base64")}`)],
  ["a plain picture in a picture", pictured(",&lt;svg width='100%' fill='%23fff'/>")],
  ["one pattern for many parts", patterned],
  // The page itself bounds drawing that takes its time pixel by pixel.
  ...Object.entries({ ...RICH, ...SLOW }),
] as const)("an SVG of %s may be drawn", async ([, text]) => {
  expect((await probe(encode(text))).format).toBe("svg");
});

const REPEATS = "The SVG has so many parts, or repeats them so often, that drawing it could take forever.";
const ENTITIES = "The SVG has entities that stand for more than text; save it without them.";

test.for([
  ...Object.entries(BOMBS).map(([name, text]) => [name, encode(text), REPEATS] as const),
  ...Object.entries(TANGLES).map(([name, text]) => [`a tangled ${name}`, encode(text), REPEATS] as const),
  [
    "a picture in a picture that repeats its parts",
    encode(pictured(`,${encodeURIComponent(BOMBS.uses ?? "")}`)),
    REPEATS,
  ],
  [
    "pictures in base64 that repeat their parts",
    encode(pictured(`;base64,${Buffer.from(BOMBS.uses ?? "").toString("base64")}`)),
    REPEATS,
  ],
  ["a billion laughs", encode(LAUGHS), ENTITIES],
  [
    "parts in an entity of another name",
    encode(`<!DOCTYPE svg [<!ENTITY é "<use/>">]>${svg("", "&é;")}`),
    ENTITIES,
  ],
  [
    "parts in an entity behind a bracket",
    encode(`<!DOCTYPE svg [<!ENTITY a "]><svg x='"><!ENTITY b "<use/>">]>${svg("", "&b;")}<!-- ' -->`),
    ENTITIES,
  ],
  [
    "an attribute of its document type",
    encode(`<!DOCTYPE svg [<!ATTLIST g fill CDATA "url(#a)">]>${svg("")}`),
    ENTITIES,
  ],
  [
    "a file as an entity",
    encode(`<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${svg("", "&a;")}`),
    ENTITIES,
  ],
  [
    "parts in an entity",
    encode(`<!DOCTYPE svg [<!ENTITY a "<use href='#a'/>">]>${svg("", "&a;")}`),
    ENTITIES,
  ],
  [
    "a long entity that is often used",
    encode(`<!DOCTYPE svg [<!ENTITY a "${"a".repeat(2000)}">]>${svg("", "&a;".repeat(2000))}`),
    "The entities of the SVG make it too large.",
  ],
  [
    "bytes that are not text",
    Uint8Array.of(...encode(svg("", "<!--".padEnd(5000))), 0xff),
    "The SVG is not text in the encoding that it declares, or in UTF-8 if it declares none.",
  ],
  [
    "gzip, as SVGZ",
    Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0),
    "The file is compressed with gzip, as an SVGZ is; unpack it first.",
  ],
  [
    "another root",
    encode('<?xml version="1.0"?><svgs><svg width="1"/></svgs>'),
    "The file is text, not media.",
  ],
  [
    "a great size",
    encode(svg('width="1e9" height="4"')),
    "The pictures are 1000000000x4 pixels; each side must be from 1 to 16384.",
  ],
] as const)("an SVG of %s is refused", async ([, bytes, message]) => {
  await expect(probe(bytes)).rejects.toMatchObject({ kind: "input_unsupported", message, retryable: false });
});

test("an SVG of more than 8 MiB is refused", async () => {
  const bytes = encode(svg("").padEnd(8_388_609));
  await expect(probe(bytes)).rejects.toMatchObject({
    kind: "input_too_large",
    message: "The SVG is larger than 8 MiB.",
  });
});

// Read twice for each part, they would take hours.
test.for(Object.entries(LONG))("an SVG of %s is read at once", { timeout: 30_000 }, async ([, text]) => {
  const refused = await probe(encode(text())).then(
    () => null,
    ({ message }: Error) => message,
  );
  expect([null, REPEATS]).toContain(refused);
});
