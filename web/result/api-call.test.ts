import { expect, test } from "vitest";
import { parseJobRequest } from "../../src/runs/job-request.ts";
import { type ApiCall, asCurl, asTypeScript } from "./api-call.ts";

const URL_CALL: ApiCall = {
  base_url: "https://media.example",
  url: "https://example.com/it's.mov",
  name: "it's.mov",
  outputs: [{ kind: "video", options: { format: "webm", width: "50%", fps: 24, codec: undefined } }],
};
const FILE_CALL: ApiCall = {
  ...{ base_url: null, url: null, name: 'my "clip" é.wav' },
  outputs: [{ kind: "audio", options: {} }],
};

test("writes a URL call as curl, quoted for the shell", () => {
  expect(asCurl(URL_CALL)).toBe(`curl 'https://media.example/tasks' \\
  -H 'Authorization: Bearer YOUR_API_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{
  "input": "https://example.com/it'\\''s.mov",
  "kind": "video",
  "options": {
    "format": "webm",
    "width": "50%",
    "fps": 24
  }
}'`);
});

test("writes a file call as curl with a placeholder URL and a hint", () => {
  const text = asCurl(FILE_CALL);
  expect(text).toContain("or upload it with POST /uploads first");
  expect(text).toContain('"input": "https://example.com/my%20%22clip%22%20%C3%A9.wav"');
  expect(text).toContain("curl 'https://media.example.com/tasks'");
  expect(text).not.toContain("options");
});

test("writes a URL call and a file call as TypeScript", () => {
  const text = asTypeScript(URL_CALL);
  expect(text).toContain('  input: "https://example.com/it\'s.mov",\n  kind: "video",\n');
  expect(text).toContain('  options: { format: "webm", width: "50%", fps: 24 },\n});');
  expect(asTypeScript(FILE_CALL)).toContain(
    'const file = new File([await openAsBlob("my \\"clip\\" é.wav")], "my \\"clip\\" é.wav");',
  );
});

test("writes several outputs as a job", () => {
  const call = { ...URL_CALL, outputs: [...URL_CALL.outputs, { kind: "image", options: {} } as const] };
  const curl = asCurl(call);
  expect(curl).toContain("curl 'https://media.example/jobs'");
  const body = curl.slice(curl.indexOf("{"), curl.lastIndexOf("}") + 1).replaceAll(`'\\''`, "'");
  const options = { format: "webm", width: "50%", fps: 24 };
  expect(parseJobRequest(JSON.parse(body))).toMatchObject({
    input: URL_CALL.url,
    outputs: [{ request: { kind: "video", options } }, { request: { kind: "image", options: {} } }],
  });
  const text = asTypeScript(call);
  expect(text).toContain(
    '  outputs: [\n    { kind: "video", options: { format: "webm", width: "50%", fps: 24 } },\n    { kind: "image" },\n  ],\n',
  );
  expect(text).toContain("await client.jobs.wait(job)");
});
