import { describe, expect, test } from "vitest";
import { childrenOf, readS3Fault, readXml, textOf, toS3Error } from "../../src/storage/s3/bucket.ts";
import { parseS3Url } from "../../src/storage/s3/s3-connection.ts";

test("parses an s3 URL literally into a bucket and a key", () => {
  expect(parseS3Url("s3://films/a/b%20c?d#e")).toEqual({ bucket: "films", key: "a/b%20c?d#e" });
  expect(parseS3Url("s3://films//a")).toEqual({ bucket: "films", key: "/a" });
  for (const wrong of ["s3://films", "s3://films/", "s3:///key", "https://films/a", "s3://films/a/../b"]) {
    expect(() => parseS3Url(wrong)).toThrow(expect.objectContaining({ kind: "invalid_output" }));
  }
});

describe("the XML of an answer", () => {
  test("is parsed into text and elements", () => {
    const list = readXml(`<?xml version="1.0" encoding="UTF-8"?>
      <List xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><!-- two -->
        <Item><Key>a &amp;&lt;b&gt; &#x65e5;&#26412;]]</Key><ETag>&quot;x&quot;</ETag></Item>
        <Item><Key> c </Key><Empty/><None></None></Item>
      </List>`);
    const items = childrenOf(list, "Item").map((item) => [textOf(item, "Key"), textOf(item, "ETag")]);
    expect([list.name, items]).toEqual([
      "List",
      [
        ["a &<b> 日本]]", '"x"'],
        [" c ", ""],
      ],
    ]);
  });

  test.for([
    "",
    "text",
    "<a>",
    "<a></b>",
    "<a></a><b></b>",
    "<a/>more",
    "</a>",
    "<a><b></a></b>",
    "<a>&unknown;</a>",
    "<a>a & b</a>",
    "<a>&constructor;</a>",
    "<a>&#x110000;</a>",
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    "<a><![CDATA[b]]></a>",
    "<a b=c></a>",
    "<!doctype html><html><body>Bad Gateway</body></html>",
    "<a>".repeat(100) + "</a>".repeat(100),
    `<a>${"b".repeat(8_000_000)}</a>`,
  ])("is rejected if it is anything else: %#", (text) => {
    expect(() => readXml(text)).toThrow();
  });

  test("takes linear time, whatever it holds", () => {
    const start = performance.now();
    for (const bad of ["<a ", '<a b="', "&", "<!--", "<a     ", "     ", '<a b="c" ']) {
      expect(() => readXml(`<a>${bad.repeat(200_000)}`)).toThrow();
    }
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

test("an error shows the service's code but never its message", () => {
  const xml = "<Error><Code>SignatureDoesNotMatch</Code><Message>secret words</Message></Error>";
  const fault = readS3Fault(new Response(xml, { status: 403 }), xml);
  const error = toS3Error(fault, "write", { host: "s3.example", bucket: "films" });
  expect([error.kind, error.message]).toEqual([
    "upload_forbidden",
    "s3.example refuses access to the bucket films: the signature is wrong, as happens with a wrong secret access key (it answered 403 SignatureDoesNotMatch).",
  ]);
  const odd = "<Error><Code>words that are none</Code></Error>";
  expect(
    toS3Error(readS3Fault(new Response(odd, { status: 418 }), odd), "read", { host: "h", bucket: "b" })
      .message,
  ).toBe("h did not send the object (it answered 418).");
});
