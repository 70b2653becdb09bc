import { afterAll, beforeAll, expect, test } from "vitest";
import { createRemoteClient } from "../../src/client/remote.ts";
import type { RemoteClient } from "../../src/client/remote-client.ts";
import { type Lab, openLab } from "../browser/lab.ts";
import { CLIENT_CONTRACT } from "./contract.ts";
import { ONE_FILE } from "./kinds/contract-kinds.ts";
import { type ClientRig, startClientRig } from "./rig.ts";

let rig: ClientRig;
let client: RemoteClient;
let lab: Lab;
let page: string;
beforeAll(async () => {
  [rig, lab] = await Promise.all([startClientRig(), openLab()]);
  const { url, key, inputs } = rig;
  client = createRemoteClient({ baseUrl: url, apiKey: key, poll: { firstMs: 20, maxMs: 200 } });
  const setup = btoa(JSON.stringify({ url, key, inputs }));
  page = `/test/client/remote.page.ts?${new URLSearchParams({ setup })}`;
});
afterAll(async () => {
  await client?.close();
  await lab?.close();
  await rig?.close();
});

test.for(CLIENT_CONTRACT)("in Node it $name", ({ check }) => check({ client, inputs: rig.inputs }));

// The service makes these outputs the same way for Node and pages, and other clauses read a file in a page.
const NODE_ONLY = new Set(ONE_FILE.map(({ name }) => name));
test.for(CLIENT_CONTRACT.filter(({ name }) => !NODE_ONLY.has(name)))("in a page it $name", ({ name }) =>
  lab.run(page, name),
);

test("creates, updates, lists and deletes connections, and never returns a secret", async () => {
  const connection = await client.connections.create({
    ...{ name: "Archive", kind: "s3", endpoint: "https://storage.example", region: "auto" },
    ...{ access_key_id: "AK", secret_access_key: "never-shown" },
  });
  expect(connection).toMatchObject({ object: "connection", name: "Archive", is_default: true });
  expect(await client.connections.get(connection.id)).toEqual(connection);
  const changed = await client.connections.update(connection.id, { name: "Attic", force_path_style: true });
  expect(changed).toEqual({
    ...connection,
    name: "Attic",
    force_path_style: true,
    updated_at: changed.updated_at,
  });
  expect(await client.connections.list({ limit: 5 })).toEqual({ records: [changed], more: false });
  expect(JSON.stringify([connection, changed])).not.toContain("never-shown");
  await expect(client.connections.create({ ...connection, kind: "s3" } as never)).rejects.toMatchObject({
    ...{ kind: "request_invalid", param: "id" },
  });
  await client.connections.delete(connection.id);
  await expect(client.connections.get(connection.id)).rejects.toMatchObject({ kind: "connection_not_found" });
  await expect(client.connections.get("../tasks")).rejects.toMatchObject({ kind: "connection_not_found" });
});

test("in a worker it runs a task to its end", async () => {
  await lab.run(page, CLIENT_CONTRACT[1]?.name ?? "", "worker");
});

test.for([
  "saves an output to a file",
  "sends a file in parts, and reports progress within parts",
  "keeps the file's content when the output is gone",
  "reports a throwing listener's error, and still notifies the others",
  "loads an output into an image element",
])("in a page it %s", (name) => lab.run(page, name));

test("in a page it rejects when there is no room for the file", async () => {
  const session = await lab.context.newCDPSession(lab.page);
  const { origin } = new URL(lab.url);
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1 });
  await lab.run(page, "rejects when there is no room for the file");
  await session.send("Storage.overrideQuotaForOrigin", { origin });
});

test("the page logs no errors except the expected statuses", () => {
  const others = lab.complaints.filter((text) => !/status of (400|404|409|415)/.test(text));
  expect(others).toEqual([]);
});

test("closes a client declared with await using at the end of its block", async () => {
  const ended = await (async () => {
    await using passing = createRemoteClient({ baseUrl: rig.url, apiKey: rig.key });
    return passing;
  })();
  await expect(ended.tasks.list()).rejects.toMatchObject({ kind: "service_unavailable" });
});
