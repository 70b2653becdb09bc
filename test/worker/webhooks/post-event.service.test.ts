import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { createOutside } from "../../../worker/network/outside.ts";
import { postEvent } from "../../../worker/webhooks/delivery.ts";
import { startReceiver } from "./receiver.ts";

const SECRETS = ["one", "two"].map((text) => `whsec_${btoa(text.repeat(10))}`);
const BODY = JSON.stringify({ id: "evt_1", text: "ü" });
const message = (url: string) => ({ url, event_id: "evt_1", body: BODY, secrets: SECRETS });
const tools = (allowPrivate = true, timeout_ms = 5000) => ({
  fetch: createOutside({ allowPrivate }).fetch,
  now: Date.now,
  timeout_ms,
});

test("the library verifies an event with each of its secrets and no other", async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const { verdict, attempt } = await postEvent(message(receiver.serve("/")), tools());
  expect([verdict, attempt.response_status, attempt.error]).toEqual(["delivered", 200, null]);
  const [received] = receiver.requests("/");
  expect(received?.body).toBe(BODY);
  for (const secret of SECRETS)
    expect(new Webhook(secret).verify(received?.body ?? "", received?.headers ?? {})).toEqual({
      id: "evt_1",
      text: "ü",
    });
  expect(() =>
    new Webhook(`whsec_${btoa("other")}`).verify(received?.body ?? "", received?.headers ?? {}),
  ).toThrow();
});

test.each(["http://127.0.0.1:9/", "http://169.254.169.254/latest", "http://[::1]/", "http://2130706433/"])(
  "does not contact %s where private hosts are not allowed",
  async (url) => {
    const { verdict, attempt } = await postEvent(message(url), tools(false));
    expect([verdict, attempt.response_status]).toEqual(["refused", null]);
    expect(attempt.error).toMatch(/is not public/);
  },
);

test("neither reads an endless response body nor waits for one that never comes", async () => {
  let sent = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200);
    response.flushHeaders();
    if (request.url === "/silent") return;
    const block = Buffer.alloc(65_536);
    const write = () => {
      while (!response.destroyed && response.write(block)) sent += block.length;
      if (!response.destroyed) response.once("drain", write);
    };
    write();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await postEvent(message(`${url}/endless`), tools())).verdict).toBe("delivered");
  expect(sent).toBeLessThan(50_000_000);
  expect((await postEvent(message(`${url}/silent`), tools(true, 300))).verdict).toBe("delivered");
});
