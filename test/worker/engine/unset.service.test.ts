import { expect, onTestFinished, test } from "vitest";
import { createTestHarness } from "wrangler";

test("a service with invalid settings answers 503 naming each, and logs the rejected values without secrets", async () => {
  const secret = "secret-of-mine";
  const workers = [
    {
      configPath: "./wrangler.toml",
      secrets: { API_KEYS: `k,bad project:${secret}`, MEDIA_SIGNING_KEY: "", CONNECTION_KEYS: secret },
      vars: {
        MAX_INPUT_BYTES: "5 gigs",
        MAX_CHUNKS_IN_FLIGHT: "0",
        NATIVE_ENCODER_URL: `https://me:${secret}@a.example`,
      },
      // Nothing is encoded, so there is no encoder.
      bindingOverrides: { ENCODER: "framewright" },
    },
  ];
  const server = createTestHarness({ workers });
  onTestFinished(() => server.close());
  await server.listen();
  const response = await server.fetch("/health");
  const rules = [
    "API_KEYS must be comma-separated KEY or PROJECT:KEY; entry 2 is not.",
    "MEDIA_SIGNING_KEY must be set to comma-separated secrets of at least 32 characters, the newest first.",
    "CONNECTION_KEYS must be comma-separated secrets of at least 16 characters, the newest first; entry 1 is not.",
    "MAX_INPUT_BYTES must be a number of bytes, or a size such as 500 MB or 2 GiB, from 1 B to 50 GB.",
    "NATIVE_ENCODER_URL must be comma-separated http or https URLs without a query or a password; entry 1 is not.",
    "MAX_CHUNKS_IN_FLIGHT must be a whole number from 1 to 1000.",
  ].join(" ");
  expect([response.status, await response.json()]).toEqual([
    503,
    { kind: "service_unavailable", message: rules },
  ]);
  const logged = rules.replace("50 GB.", '50 GB, not "5 gigs".').replace("to 1000.", 'to 1000, not "0".');
  const line = JSON.stringify({ level: "error", message: "not set up", error: logged });
  const logs = JSON.stringify(server.getLogs());
  expect(logs).toContain(JSON.stringify(line).slice(1, -1));
  expect(logs).not.toContain(secret);
});
