import { expect, test } from "vitest";
import { MediaError } from "../../src/index.ts";
import { parseAddress, parseKey } from "./service-address.ts";

test.for([
  { text: "https://media.example.com/", protocol: "https:", url: "https://media.example.com" },
  { text: " media.example.com ", protocol: "https:", url: "https://media.example.com" },
  { text: "media.example.com/behind/", protocol: "http:", url: "https://media.example.com/behind" },
  { text: "localhost:8787", protocol: "http:", url: "http://localhost:8787" },
  { text: "127.0.0.1:8787", protocol: "https:", url: "http://127.0.0.1:8787" },
  { text: "http://10.0.0.7:8787", protocol: "http:", url: "http://10.0.0.7:8787" },
] as const)("parses $text on a page over $protocol as $url", ({ text, protocol, url }) => {
  expect(parseAddress(text, protocol)).toBe(url);
});

test.for([
  { text: "", protocol: "http:", words: "Enter the address" },
  { text: "https://", protocol: "http:", words: "Enter the address" },
  { text: "ftp://media.example.com", protocol: "http:", words: "https:// or http://" },
  { text: "https://user:secret@media.example.com", protocol: "http:", words: "Leave user name" },
  { text: "https://media.example.com/?key=secret", protocol: "http:", words: "Leave user name" },
  { text: "http://media.example.com", protocol: "https:", words: "loaded over https" },
] as const)("rejects $text on a page over $protocol", ({ text, protocol, words }) => {
  const thrown = thrownBy(() => parseAddress(text, protocol));
  expect(thrown).toMatchObject({ kind: "request_invalid", param: "base_url" });
  expect(thrown.message).toContain(words);
  expect(thrown.message).not.toContain("secret");
});

test("trims a key, and rejects an invalid one without showing it", () => {
  expect(parseKey(" dev-key\n")).toBe("dev-key");
  const thrown = thrownBy(() => parseKey("two words"));
  expect(thrown).toMatchObject({ kind: "token_invalid", param: "api_key" });
  expect(thrown.message).not.toContain("two words");
});

function thrownBy(act: () => unknown): MediaError {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof MediaError) return thrown;
  }
  throw new Error("No MediaError was thrown.");
}
