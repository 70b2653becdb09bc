import { expect, test } from "vitest";
import { MediaError } from "../../src/index.ts";
import { parseAddress, parseKey } from "./edge.ts";

test.for([
  ["https://media.example.com/", "https:", "https://media.example.com"],
  [" media.example.com ", "https:", "https://media.example.com"],
  ["media.example.com/behind/", "http:", "https://media.example.com/behind"],
  ["localhost:8787", "http:", "http://localhost:8787"],
  ["127.0.0.1:8787", "https:", "http://127.0.0.1:8787"],
  ["http://10.0.0.7:8787", "http:", "http://10.0.0.7:8787"],
] as const)("parses %j on a page over %s as %s", ([text, protocol, url]) => {
  expect(parseAddress(text, protocol)).toBe(url);
});

test.for([
  ["", "http:", "Enter the address"],
  ["https://", "http:", "Enter the address"],
  ["ftp://media.example.com", "http:", "https:// or http://"],
  ["https://user:secret@media.example.com", "http:", "Leave user name"],
  ["https://media.example.com/?key=secret", "http:", "Leave user name"],
  ["http://media.example.com", "https:", "loaded over https"],
] as const)("rejects %j on a page over %s", ([text, protocol, words]) => {
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
