import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";
import { type Config, checkConfig } from "../../worker/local/doctor.ts";
import { WORKERS } from "../../worker/local/service.ts";
import { ACCOUNT_ID, type CloudflareAccount, startCloudflareApi } from "./cloudflare-api.ts";
import { ROOT, runScript } from "./run-script.ts";

test("names what an account lacks, and exits with 1", async () => {
  // No account is at hand; the checks end where the login is missing.
  const doctor = runScript("doctor", [], { CLOUDFLARE_API_TOKEN: "", CLOUDFLARE_ACCOUNT_ID: "" });
  expect(await doctor.ended).toBe(1);
  const lines = doctor.output().split("\n");
  expect(lines).toContain("ok       Bindings: wrangler.toml has all of them");
  expect(lines).toContain(
    "MISSING  KV id: run npx wrangler kv namespace create KV, and put the id that it prints into wrangler.toml",
  );
  expect(lines).toContain(
    "MISSING  Account: wrangler is not logged in: run npx wrangler login, or set CLOUDFLARE_API_TOKEN",
  );
});

/** Examines an account at a stand-in for Cloudflare's API; returns the lines and the exit code. */
async function examine(account: CloudflareAccount) {
  const api = await startCloudflareApi(account);
  onTestFinished(() => api.close());
  const doctor = runScript("doctor", [], {
    CLOUDFLARE_API_BASE_URL: api.url,
    CLOUDFLARE_API_TOKEN: "a-token",
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
  });
  const code = await doctor.ended;
  expect(api.changes).toEqual([]);
  expect(doctor.output()).not.toContain("a-token");
  return { code, lines: doctor.output().trimEnd().split("\n") };
}

const KV_ID = "0".repeat(32);

test("finds nothing missing but the engine of Docker in an account that has everything", async () => {
  const { lines } = await examine({
    namespaces: [KV_ID],
    buckets: ["framewright-media"],
    plan: "workers_paid",
    deployed: ["framewright", "framewright-encoder"],
    secrets: ["MEDIA_SIGNING_KEY", "CONNECTION_KEYS", "OPERATOR_KEY"],
  });
  // The repository has no account's id of KV.
  const predictable = lines.filter(
    (line) => !/^(ok|MISSING) +Docker: /.test(line) && !line.includes("KV id"),
  );
  expect(predictable).toEqual([
    "ok       Bindings: wrangler.toml has all of them",
    "ok       Account: wrangler is logged in",
    "ok       Workers Paid: the account has it",
    "ok       KV namespace: it is in the account",
    "ok       R2 bucket: framewright-media",
    "ok       Encoder Worker: it is deployed",
    "ok       MEDIA_SIGNING_KEY: it is set",
    "ok       CONNECTION_KEYS: it is set",
    "ok       API_KEYS or OPERATOR_KEY: one is set",
  ]);
  expect(lines.length).toBe(predictable.length + 2);
});

test("says what a fresh account on the free plan lacks, and how to add it", async () => {
  const none = { namespaces: [], buckets: [], deployed: [] };
  const { code, lines } = await examine({ ...none, secrets: ["MEDIA_SIGNING_KEY"], plan: "workers_free" });
  expect(code).toBe(1);
  expect(lines).toEqual(
    expect.arrayContaining([
      "MISSING  Workers Paid: the account is on the free plan, which has no containers",
      `MISSING  KV namespace: the account has none with the id ${KV_ID}`,
      "MISSING  R2 bucket: run npx wrangler r2 bucket create framewright-media",
      "MISSING  Encoder Worker: run npm run build, then npx wrangler deploy --config worker/encoder/wrangler.toml",
      "ok       MEDIA_SIGNING_KEY: it is set",
      "MISSING  CONNECTION_KEYS: without it there are no connections, webhooks or encrypted streams: run npx wrangler secret put CONNECTION_KEYS",
      "MISSING  API_KEYS or OPERATOR_KEY: without either nobody has a key: run npx wrangler secret put OPERATOR_KEY",
    ]),
  );
});

test("names each binding of the service that a configuration lacks", () => {
  const whole: Config = readConfig({ config: join(ROOT, WORKERS.framewright) });
  const lists = [whole.kv_namespaces, whole.r2_buckets, whole.workflows, whole.services ?? []].flat();
  const objects = whole.durable_objects.bindings.map(({ name }) => name);
  const names = [...lists.map(({ binding }) => binding), ...objects];
  expect(names.length).toBeGreaterThan(12);
  for (const name of names) {
    const others = <T extends { binding?: string; name?: string }>(list: T[] = []) =>
      list.filter((each) => each.binding !== name && each.name !== name);
    const lacking = {
      kv_namespaces: others(whole.kv_namespaces),
      r2_buckets: others(whole.r2_buckets),
      workflows: others(whole.workflows),
      services: others(whole.services),
      assets: whole.assets,
      durable_objects: { bindings: others(whole.durable_objects.bindings) },
    };
    expect(checkConfig(lacking)[0]).toMatchObject({ state: "missing", words: `wrangler.toml lacks ${name}` });
  }
});
