import { createTestHarness } from "wrangler";
import { createSigner } from "../../../worker/media/signed-urls.ts";
import { NO_LIMITS } from "../../fixtures/no-limits.ts";

/** The secrets that sign media URLs, the newest first. */
export const SIGNING_KEYS = [
  "the newest signing key of these tests",
  "the signing key of before these tests",
];

/** Manages the keys of all projects. */
export const OPERATOR_KEY = "the-key-of-the-operator-of-these-tests";

/** The bindings that tests use. */
export interface Bindings {
  KV: { put(key: string, value: string): Promise<void>; delete(key: string): Promise<void> };
  MEDIA: {
    put(key: string, value: Uint8Array, options?: object): Promise<{ etag: string; uploaded: Date }>;
    resumeMultipartUpload(
      key: string,
      upload: string,
    ): { uploadPart(number: number, bytes: Uint8Array): Promise<unknown> };
  };
}

/** Starts the service in a real workerd, with KV, R2, assets and the engine but no encoder. */
export async function startService(keys: string, more: Record<string, string> = {}) {
  Object.assign(process.env, {
    WRANGLER_SEND_METRICS: "false",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_HIDE_BANNER: "true",
  });
  const secrets = {
    API_KEYS: keys,
    MEDIA_SIGNING_KEY: SIGNING_KEYS.join(),
    CONNECTION_KEYS: "a secret of the tests",
    OPERATOR_KEY,
  };
  const vars = { ALLOW_PRIVATE_NETWORK: "true", NATIVE_INSTANCES: "0", ...NO_LIMITS, ...more };
  const configPath = new URL("../../../wrangler.toml", import.meta.url);
  // Nothing is encoded here, so the encoder's 31 MB stay out: its binding points back at the service.
  const bindingOverrides = { ENCODER: "framewright" };
  const server = createTestHarness({ workers: [{ configPath, secrets, vars, bindingOverrides }] });
  const { url } = await server.listen();
  return {
    base: url.origin,
    bindings: await server.getWorker<Bindings>().getEnv(),
    signer: createSigner(SIGNING_KEYS, Date.now),
    logs: () => JSON.stringify(server.getLogs()),
    close: () => server.close(),
  };
}
