import { expect, test } from "vitest";
import { findMessageText } from "./message-text.ts";
import { readSources } from "./source-files.ts";

// Errors of other libraries that have no code to branch on.
const ALLOWED: Readonly<Record<string, string>> = {
  "src/browser/local-client.ts": "ends the browser's own sentence inside one of ours",
  "src/encoders/wasm/core-module.ts": "emscripten's exit is an error without a code",
  "worker/local/programs.ts": "shows the first line of what workerd printed",
  "worker/media/r2-uploads.ts": "R2 has the code of an error in its message alone",
  "worker/network/r2-storage.ts": "a full disk under R2 is an error without a code",
  "worker/run/workflow-instance.ts": "Workflows names a missing instance in the message alone",
};

test("nothing branches on the text of a message or rewrites it", () => {
  const places = readSources("src", "worker", "web")
    .filter(({ path }) => !path.endsWith(".test.ts"))
    .flatMap(findMessageText);
  expect(places.filter((each) => !(each.slice(0, each.indexOf(":")) in ALLOWED))).toEqual([]);
  // No exception outlives its need.
  const needed = new Set(places.map((each) => each.slice(0, each.indexOf(":"))));
  expect([...needed].sort()).toEqual(Object.keys(ALLOWED));
});

test.for([
  "fault?.message.endsWith('reached.')",
  "message.startsWith(param)",
  "(error.message ?? '').includes('disk')",
  "(error as Error).message.match(/disk/)",
  "/disk/.test(error.message)",
  "/disk/.exec(message)",
  "/disk/.test(String(thrown))",
  `\`\${cause}\`.includes("disk")`,
  "error.message === 'The file is empty.'",
  "`Too large.` !== error.message",
  "message === 'The file is empty.'",
  "message.replace(/;.*/, '.')",
  "thrown.stack.split('\\n')",
])("finds %s", (text) => {
  expect(findMessageText({ path: "x.ts", text })).toEqual([`x.ts: ${text}`]);
});

test("finds a switch over messages", () => {
  const text = "switch (error.message) { case 'The file is empty.': }";
  expect(findMessageText({ path: "x.ts", text })).toEqual(["x.ts: error.message"]);
});

test.for([
  "error.kind === 'timeout'",
  "message.state === 'done'",
  "message === null",
  "show(error.message)",
  "text.replace('a', 'b')",
  "one.message === other.message",
])("accepts %s", (text) => {
  expect(findMessageText({ path: "x.ts", text })).toEqual([]);
});
