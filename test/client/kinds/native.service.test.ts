import { afterAll, beforeAll, test } from "vitest";
import { createRemoteClient } from "../../../src/client/remote.ts";
import type { RemoteClient } from "../../../src/client/remote-client.ts";
import { type ClientRig, startClientRig } from "../rig.ts";
import { KINDS } from "./contract-kinds.ts";

let rig: ClientRig;
let client: RemoteClient;
beforeAll(async () => {
  rig = await startClientRig({ native: true });
  client = createRemoteClient({ baseUrl: rig.url, apiKey: rig.key, poll: { firstMs: 20, maxMs: 200 } });
});
afterAll(async () => {
  await client?.close();
  await rig?.close();
});

// One of each kind.
const SMOKE = new Set([
  "makes a video below its target_size",
  "makes sound of the loudness, channels and sample rate asked for",
  "makes an image of at most max_bytes, of the size asked for",
  "makes a GIF of a span, which plays as often and as fast as asked",
  "makes a storyboard with a cue for each tile",
  "makes the picture of a waveform",
  "makes HLS and DASH of one language and a span, from the same segments",
]);

for (const { name, check } of KINDS) {
  test(`with the native encoder it ${name}`, { tags: SMOKE.has(name) ? "smoke" : [] }, () =>
    check({ client, inputs: rig.inputs, encoder: "native" }),
  );
}
