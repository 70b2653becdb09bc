import { afterAll, beforeAll, test } from "vitest";
import { createRemoteClient } from "../../../src/client/remote/remote.ts";
import type { RemoteClient } from "../../../src/client/remote/remote-client.ts";
import { type ClientRig, startClientRig } from "../rig.ts";
import { KINDS } from "./contract-kinds.ts";

let rig: ClientRig;
let client: RemoteClient;
beforeAll(async () => {
  rig = await startClientRig({ native: 1 });
  client = createRemoteClient({ baseUrl: rig.url, apiKey: rig.key, poll: { firstMs: 20, maxMs: 200 } });
});
afterAll(async () => {
  await client?.close();
  await rig?.close();
});

test.for(KINDS)("with the native encoder it $name", ({ check }) =>
  check({ client, inputs: rig.inputs, encoder: "native" }),
);
