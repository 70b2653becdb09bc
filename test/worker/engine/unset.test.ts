import { expect, test } from "vitest";
import { createTestHarness } from "wrangler";

test.each([
  [{ API_KEYS: "k", MEDIA_SIGNING_KEY: "" }, "MEDIA_SIGNING_KEY"],
  [{ API_KEYS: "bad project:secret-of-mine", MEDIA_SIGNING_KEY: "s" }, "API_KEYS"],
  [{ API_KEYS: "k", MEDIA_SIGNING_KEY: "s", CONNECTION_KEYS: "secret-of-mine" }, "CONNECTION_KEYS"],
  [{ API_KEYS: "k", MEDIA_SIGNING_KEY: "s", NATIVE_ENCODER_URL: "secret-of-mine" }, "NATIVE_ENCODER_URL"],
  [{ API_KEYS: "k", MEDIA_SIGNING_KEY: "s", MAX_CHUNKS_IN_FLIGHT: "secret-of-mine" }, "MAX_CHUNKS_IN_FLIGHT"],
])("a service without a usable setting answers 503 and names it, not its value", async (secrets, name) => {
  // Nothing is encoded, so the encoder stays out.
  const workers = [{ configPath: "./wrangler.toml", secrets, bindingOverrides: { ENCODER: "framewright" } }];
  const server = createTestHarness({ workers });
  await server.listen();
  try {
    const response = await server.fetch("/health");
    expect(response.status).toBe(503);
    const body = (await response.json()) as { kind: string; message: string };
    expect(body.kind).toBe("service_unavailable");
    expect(body.message).toContain(name);
    expect(body.message).not.toContain("secret-of-mine");
  } finally {
    await server.close();
  }
});
