import { afterAll, beforeAll, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { createRemoteClient } from "../../src/client/remote.ts";
import { CLIENT_CONTRACT } from "./contract.ts";
import { type ClientRig, startClientRig } from "./rig.ts";

let rig: ClientRig;
let client: Client;
beforeAll(async () => {
  rig = await startClientRig();
  const poll = { first_ms: 20, most_ms: 200 };
  client = createRemoteClient({ baseUrl: rig.url, apiKey: rig.key, poll });
});
afterAll(async () => {
  await client?.close();
  await rig?.close();
});

test.for(CLIENT_CONTRACT)("remote client $name", ({ check }) => check({ client, inputs: rig.inputs }));
