import { equal, rejects } from "../browser/assert.ts";
import { type ClientCase, type ClientClauses, createSilent } from "./contract-case.ts";

const UNKNOWN_IDS = ["task_01kbb1d3x4e8v0t6m9q2y5z7av", "task_", "x", "", "..", "a/b", "%00", "__proto__"];

/** Rejected requests and their errors. */
export const REFUSALS: ClientClauses = [
  ...refusals().map(([what, request, kind, param]) => ({
    name: `rejects ${what} as ${kind}, and creates nothing`,
    async check(context: ClientCase) {
      const newest = async () => (await context.client.tasks.list({ limit: 1 })).records[0]?.id;
      const before = await newest();
      await rejects(createSilent(context, request), { kind, param, name: "MediaError", retryable: false });
      equal(await newest(), before);
    },
  })),
  {
    name: "rejects invalid steps",
    async check({ client, inputs }) {
      const input = { url: inputs.video };
      const source = { object: "source", url: inputs.video, kind: "video", format: "mp4" } as const;
      const refused = (request: object) => client.steps.create(request as never);
      await rejects(refused({ kind: "film", input }), { kind: "invalid_kind", param: "kind" });
      await rejects(refused({ kind: "probe" }), { kind: "input_required", param: "input" });
      await rejects(refused({ kind: "probe", input: {} }), { kind: "input_required", param: "input.url" });
      await rejects(refused({ kind: "probe", input, options: { fps: 3 } }), { kind: "request_invalid" });
      await rejects(refused({ kind: "video", input }), { kind: "invalid_input", param: "input.object" });
      await rejects(refused({ kind: "audio", input: source, options: { bitrate: 1 } }), {
        ...{ kind: "invalid_options", param: "options.bitrate" },
      });
    },
  },
  {
    name: "rejects unknown ids",
    async check({ client }) {
      for (const id of UNKNOWN_IDS) {
        for (const method of ["get", "cancel", "retry", "delete"] as const) {
          await rejects(client.tasks[method](id), { kind: "task_not_found", name: "MediaError" });
        }
        for (const method of ["get", "cancel", "delete"] as const) {
          await rejects(client.steps[method](id), { kind: "step_not_found" });
        }
        await rejects(client.tasks.wait(id), { kind: "task_not_found" });
        await rejects(client.output(id), { kind: "task_not_found" });
      }
      await rejects(client.tasks.wait("step_01kbb1d3x4e8v0t6m9q2y5z7av"), { kind: "step_not_found" });
    },
  },
];

function refusals(): [what: string, request: object, kind: string, param: string | undefined][] {
  return [
    ["no input", { input: undefined }, "input_required", "input"],
    ["an empty input", { input: "" }, "input_required", "input"],
    ["an ftp input", { input: "ftp://example.com/a.mp4" }, "invalid_input", "input"],
    ["an input that is a number", { input: 7 }, "request_invalid", "input"],
    ["an input that is a list", { input: [] }, "request_invalid", "input"],
    [
      "an input that is an object",
      { input: { url: "https://example.com/a.mp4" } },
      "request_invalid",
      "input",
    ],
    ["a data: URL that is damaged", { input: "data:video/mp4;base64,%" }, "invalid_input", "input"],
    ["no kind", { kind: undefined }, "request_invalid", "kind"],
    ["an unknown kind", { kind: "movie" }, "invalid_kind", "kind"],
    ["an unknown format", { options: { format: "wmv" } }, "invalid_format", "options.format"],
    [
      "a codec in the wrong format",
      { options: { format: "webm", codec: "h264" } },
      "invalid_codec",
      "options.codec",
    ],
    ["90 frames a second", { options: { fps: 90 } }, "invalid_options", "options.fps"],
    ["an unknown option", { options: { loud: true } }, "request_invalid", "options.loud"],
    ["an end before the start", { options: { start: 2, end: 1 } }, "invalid_options", "options.end"],
    [
      "a background without contain",
      { options: { background: "#fff" } },
      "invalid_options",
      "options.background",
    ],
    ["metadata that is a list", { metadata: [1] }, "request_invalid", "metadata"],
    ["an output that is not a bucket", { output: "https://example.com/a" }, "invalid_output", "output"],
    ["an unknown field", { inputs: [] }, "request_invalid", "inputs"],
  ];
}
