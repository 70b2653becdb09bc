import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createNatives, SERVICE_IN_CONTAINER } from "../../../worker/run/encoders.ts";
import { readSettings, ServiceSettings } from "../../../worker/settings.ts";

const requests: string[] = [];
const NATIVE = {
  getByName: (name: string) => ({
    fetch: async (url: string) => {
      requests.push(`${name} ${url}`);
      return new Response("container");
    },
  }),
};
const natives = (variables: Record<string, string>, bindings: { NATIVE?: typeof NATIVE } = { NATIVE }) => {
  const settings = readSettings(ServiceSettings, { MEDIA_SIGNING_KEY: "-".repeat(32), ...variables });
  return createNatives({ ...bindings, settings }, "https://media.example");
};

test("has no native encoders without settings", () => {
  expect(natives({})).toMatchObject({ instances: [], max_in_flight: 8 });
  expect(natives({ NATIVE_INSTANCES: "0" }).instances).toEqual([]);
  expect(natives({ NATIVE_INSTANCES: "4" }, {}).instances).toEqual([]);
});

test("calls external encoders below their URLs, with media at the service's own URL", async () => {
  const server = createServer((request, response) => response.end(request.url));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const NATIVE_ENCODER_URL = `http://${host}/, http://${host}/below/`;
  const { instances, base, max_in_flight } = natives({
    NATIVE_INSTANCES: "4",
    NATIVE_ENCODER_URL,
    MAX_CHUNKS_IN_FLIGHT: "3",
  });
  expect([base, max_in_flight]).toEqual(["https://media.example", 3]);
  const answers = instances.map(async ({ fetch }) => (await fetch("/jobs")).text());
  expect(await Promise.all(answers)).toEqual(["/jobs", "/below/jobs"]);
});

test("uses containers otherwise, with media at their internal host", async () => {
  const { instances, base } = natives({ NATIVE_INSTANCES: "3" });
  expect([base, instances.map(({ name }) => name)]).toEqual([
    SERVICE_IN_CONTAINER,
    ["native-1", "native-2", "native-3"],
  ]);
  await instances[1]?.fetch("/jobs/a?wait=5");
  expect(requests).toEqual(["native-2 http://native/jobs/a?wait=5"]);
});
