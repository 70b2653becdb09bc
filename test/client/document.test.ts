import { expect, test } from "vitest";
import { createRemoteClient } from "../../src/client/remote.ts";
import type { RemoteClient } from "../../src/client/remote-client.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { SUCCEEDED_STEP } from "../../worker/api/steps.ts";
import { SUCCEEDED_TASK } from "../../worker/api/tasks.ts";
import { createMemoryApi } from "../worker/api/memory-api.ts";

interface Content {
  examples?: Record<string, { value: unknown }>;
}
interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; example?: string }[];
  requestBody?: { content: { "application/json": Content } };
  responses: Record<string, { content?: Record<string, Content> }>;
}
interface Described extends Operation {
  method: string;
  path: string;
}

const BASE = "https://api.example";
const document = await (await createMemoryApi().app.request("/openapi.json")).json();
const operations: Described[] = Object.entries(
  (document as { paths: Record<string, Record<string, Operation>> }).paths,
).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
);

const named = (operationId: string) => {
  const operation = operations.find((each) => each.operationId === operationId);
  if (!operation) throw new Error(`The document has no operation ${operationId}.`);
  return operation;
};
const id = (operation: Described) => operation.parameters?.find(({ name }) => name === "id")?.example ?? "";
const bodies = ({ requestBody }: Described) =>
  Object.values(requestBody?.content["application/json"].examples ?? {}).map(({ value }) => value);

/** The documented examples of an operation's success responses. */
function answers({ responses }: Described): unknown[] {
  return Object.entries(responses)
    .filter(([status]) => status === "200" || status === "201")
    .flatMap(([, { content }]) => Object.values(content?.["application/json"]?.examples ?? {}))
    .map(({ value }) => value);
}

const CHOICE = { encoder: "native", reason: "it is large" };

/** A client on a fetch that answers from the document and logs the requested operations. */
function createDocumented(answer: (operation: Described) => unknown) {
  const requests: { operationId: string; body: unknown }[] = [];
  const fetch = async (url: string, init: RequestInit = {}) => {
    const { pathname: path } = new URL(url);
    const method = init.method ?? "GET";
    const operation = operations.find(
      (each) =>
        each.method === method &&
        new RegExp(`^${each.path.replace("{key}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
    );
    if (!operation) throw new Error(`The document has no ${method} ${path}.`);
    const body = typeof init.body === "string" ? JSON.parse(init.body) : null;
    requests.push({ operationId: operation.operationId, body });
    if (operation.operationId === "taskEvents") {
      const update = {
        record: SUCCEEDED_TASK,
        progress: 100,
        speed: null,
        eta: null,
        error: null,
        choice: CHOICE,
      };
      return new Response(`event: update\nid: 9\ndata: ${JSON.stringify(update)}\n\n`);
    }
    if (operation.operationId === "getDocument") return Response.json(document);
    const example = answer(operation);
    return example === undefined ? new Response(null, { status: 204 }) : Response.json(example);
  };
  return { requests, client: createRemoteClient({ baseUrl: BASE, apiKey: "k", fetch }) };
}

type Use = (client: RemoteClient, operation: Described, body: never) => Promise<unknown>;

const list =
  <T>(of: (client: RemoteClient) => { list(): Promise<{ records: T[] }> }): Use =>
  async (client) =>
    (await of(client).list()).records;
const each =
  <T>(of: (client: RemoteClient) => { each(): AsyncGenerator<T> }): Use =>
  (client) =>
    Array.fromAsync(of(client).each());

/** The operation that each client method calls, and how to call the method. */
const METHODS: Record<string, [operationId: string, use: Use]> = {
  "tasks.create": ["createTask", (client, _, body) => client.tasks.create(body)],
  "tasks.get": ["getTask", (client, operation) => client.tasks.get(id(operation))],
  "tasks.list": ["listTasks", list(({ tasks }) => tasks)],
  "tasks.each": ["listTasks", each(({ tasks }) => tasks)],
  "tasks.cancel": ["cancelTask", (client, operation) => client.tasks.cancel(id(operation))],
  "tasks.retry": ["retryTask", (client, operation) => client.tasks.retry(id(operation))],
  "steps.delete": ["deleteStep", (client, operation) => client.steps.delete(id(operation))],
  "tasks.delete": ["deleteTask", (client, operation) => client.tasks.delete(id(operation))],
  estimate: [
    "estimate",
    async (client, _, body) => {
      const [estimate] = await Array.fromAsync(client.estimate(body));
      return estimate;
    },
  ],
  preview: [
    "preview",
    async (client, _, body) => {
      const { original, output, ...facts } = await client.preview(body);
      const [before, after] = await Promise.all([dataUrl(original), dataUrl(output)]);
      return { original: before, output: after, ...facts };
    },
  ],
  "steps.create": ["createStep", (client, _, body) => client.steps.create(body)],
  "steps.get": ["getStep", (client, operation) => client.steps.get(id(operation))],
  "steps.list": ["listSteps", list(({ steps }) => steps)],
  "steps.each": ["listSteps", each(({ steps }) => steps)],
  "steps.cancel": ["cancelStep", (client, operation) => client.steps.cancel(id(operation))],
  "jobs.create": ["createJob", (client, _, body) => client.jobs.create(body)],
  "jobs.get": ["getJob", (client, operation) => client.jobs.get(id(operation))],
  "jobs.list": ["listJobs", list(({ jobs }) => jobs)],
  "jobs.each": ["listJobs", each(({ jobs }) => jobs)],
  "jobs.cancel": ["cancelJob", (client, operation) => client.jobs.cancel(id(operation))],
  "jobs.delete": ["deleteJob", (client, operation) => client.jobs.delete(id(operation))],
  "connections.create": ["createConnection", (client, _, body) => client.connections.create(body)],
  "connections.get": ["getConnection", (client, operation) => client.connections.get(id(operation))],
  "connections.list": ["listConnections", list(({ connections }) => connections)],
  "connections.each": ["listConnections", each(({ connections }) => connections)],
  "connections.update": [
    "changeConnection",
    (client, operation, body) => client.connections.update(id(operation), body),
  ],
  "connections.test": [
    "testConnection",
    (client, operation, body) => client.connections.test(id(operation), body),
  ],
  "connections.sign": [
    "signRequest",
    (client, operation, body) => client.connections.sign(id(operation), body),
  ],
  "connections.reencrypt": ["reencryptConnections", (client) => client.connections.reencrypt()],
  "connections.delete": ["deleteConnection", (client, operation) => client.connections.delete(id(operation))],
  "uploads.create": ["createUpload", (client, _, body) => client.uploads.create(body)],
  "uploads.get": ["getUpload", (client, operation) => client.uploads.get(id(operation))],
  "uploads.complete": [
    "completeUpload",
    (client, operation, body) => client.uploads.complete(id(operation), body),
  ],
  "uploads.delete": ["deleteUpload", (client, operation) => client.uploads.delete(id(operation))],
  "images.sign": ["signImage", (client, _, body) => client.images.sign(body)],
  "webhooks.endpoints.create": [
    "createWebhookEndpoint",
    (client, _, body) => client.webhooks.endpoints.create(body),
  ],
  "webhooks.endpoints.get": [
    "getWebhookEndpoint",
    (client, operation) => client.webhooks.endpoints.get(id(operation)),
  ],
  "webhooks.endpoints.list": ["listWebhookEndpoints", list(({ webhooks }) => webhooks.endpoints)],
  "webhooks.endpoints.each": ["listWebhookEndpoints", each(({ webhooks }) => webhooks.endpoints)],
  "webhooks.endpoints.update": [
    "changeWebhookEndpoint",
    (client, operation, body) => client.webhooks.endpoints.update(id(operation), body),
  ],
  "webhooks.endpoints.rotate": [
    "rotateEndpointSecret",
    (client, operation, body) => client.webhooks.endpoints.rotate(id(operation), body),
  ],
  "webhooks.endpoints.delete": [
    "deleteWebhookEndpoint",
    (client, operation) => client.webhooks.endpoints.delete(id(operation)),
  ],
  "webhooks.deliveries.get": [
    "getWebhookDelivery",
    (client, operation) => client.webhooks.deliveries.get(id(operation)),
  ],
  "webhooks.deliveries.list": ["listWebhookDeliveries", list(({ webhooks }) => webhooks.deliveries)],
  "webhooks.deliveries.each": ["listWebhookDeliveries", each(({ webhooks }) => webhooks.deliveries)],
  "webhooks.deliveries.replay": [
    "replayWebhookDelivery",
    (client, operation) => client.webhooks.deliveries.replay(id(operation)),
  ],
  "webhooks.events.get": ["getEvent", (client, operation) => client.webhooks.events.get(id(operation))],
  "webhooks.events.list": ["listEvents", list(({ webhooks }) => webhooks.events)],
  "webhooks.events.each": ["listEvents", each(({ webhooks }) => webhooks.events)],
  "webhooks.rotateSecret": ["rotateWebhookSecret", (client, _, body) => client.webhooks.rotateSecret(body)],
  "keys.create": ["createKey", (client, _, body) => client.keys.create(body)],
  "keys.get": ["getKey", (client, operation) => client.keys.get(id(operation))],
  "keys.list": ["listKeys", list(({ keys }) => keys)],
  "keys.each": ["listKeys", each(({ keys }) => keys)],
  "keys.roll": ["rollKey", (client, operation, body) => client.keys.roll(id(operation), body)],
  "keys.revoke": ["revokeKey", (client, operation) => client.keys.revoke(id(operation))],
  "service.health": ["getHealth", (client) => client.service.health()],
  "service.metrics": ["getMetrics", (client) => client.service.metrics()],
  "service.document": ["getDocument", (client) => client.service.document()],
  watch: ["taskEvents", (client) => Array.fromAsync(client.watch(SUCCEEDED_TASK))],
  on: [
    "getTask",
    (client) =>
      new Promise((resolve) => client.on(SUCCEEDED_TASK, "update", ({ record }) => resolve(record))),
  ],
  // Waiting on a record that still runs would never end.
  "tasks.wait": ["getTask", (client, operation) => firstOf(client, operation)],
  "steps.wait": [
    "getStep",
    async (client, operation) => {
      const step = await client.steps.get(id(operation));
      return isFinished(step) ? client.steps.wait(step.id) : step;
    },
  ],
  output: ["getMedia", async (client) => (await client.output(SUCCEEDED_TASK)).blob()],
};
async function dataUrl(file: Blob): Promise<string> {
  return `data:${file.type};base64,${Buffer.from(await file.arrayBuffer()).toString("base64")}`;
}

function firstOf(client: RemoteClient, operation: Described): Promise<unknown> {
  return client.tasks
    .get(id(operation))
    .then((task) => (isFinished(task) ? client.tasks.wait(task.id) : task));
}

// Built from other methods, or, as close, without a request.
const OTHERS = ["uploads.send", "jobs.wait", "jobs.watch", "run", "probe", "entries", "filmstrip", "close"];
// A page for people, what an `<img>` shows, and a stream for clients that do not follow the tasks of a job.
const NOT_CALLED = ["getDocs", "getImage", "jobEvents"];

function methodsOf(value: object, path = ""): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const at = path + name;
    return typeof member === "function" ? [at] : methodsOf(member, `${at}.`);
  });
}

test("every documented operation has a client method, and every method has an operation", () => {
  const { client } = createDocumented(() => undefined);
  expect(methodsOf(client).toSorted()).toEqual([...Object.keys(METHODS), ...OTHERS].toSorted());
  const reached = new Set(Object.values(METHODS).map(([operationId]) => operationId));
  expect([...reached, ...NOT_CALLED].toSorted()).toEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
  );
});

test.each(Object.entries(METHODS))(
  "%s calls only its operation, sends the documented bodies and returns the documented answers",
  async (_, [operationId, use]) => {
    const operation = named(operationId);
    const shown = answers(operation);
    for (const answer of shown.length > 0 ? shown : [undefined]) {
      for (const body of bodies(operation).length > 0 ? bodies(operation) : [null]) {
        const { client, requests } = createDocumented(() => answer);
        const returned = await use(client, operation, body as never);
        expect(new Set(requests.map((each) => each.operationId))).toEqual(new Set([operationId]));
        expect(requests[0]?.body).toEqual(body);
        // The client's types drop no field of an answer.
        if (answer !== undefined && operationId !== "getMedia") expect(returned).toEqual(answer);
        await client.close();
      }
    }
  },
);

test("watches a task by its events and a step by polling", async () => {
  const { client, requests } = createDocumented(() => SUCCEEDED_STEP);
  const [task] = await Array.fromAsync(client.watch(SUCCEEDED_TASK));
  expect(task).toEqual({
    record: SUCCEEDED_TASK,
    progress: 100,
    speed: null,
    eta: null,
    error: null,
    choice: CHOICE,
  });
  const [step] = await Array.fromAsync(client.watch(SUCCEEDED_STEP));
  expect(step?.record).toEqual(SUCCEEDED_STEP);
  expect(requests.map(({ operationId }) => operationId)).toEqual(["taskEvents", "getStep"]);
});
