import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An account of Cloudflare. */
export interface CloudflareAccount {
  /** Ids of its KV namespaces. */
  namespaces: readonly string[];
  buckets: readonly string[];
  /** Secrets of the service Worker; null where it is not deployed. */
  secrets: readonly string[] | null;
  /** Names of deployed Workers. */
  deployed: readonly string[];
  /** Id of the plan that it pays for; null where the token may not read that. */
  plan: string | null;
}

/** The part of Cloudflare's API that reading an account needs, on loopback. */
export interface CloudflareApi {
  /** Value for `CLOUDFLARE_API_BASE_URL`. */
  url: string;
  /** Requests that would change something. */
  readonly changes: string[];
  close(): Promise<void>;
}

/** Id of the account. */
export const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
const ACCOUNT = { id: ACCOUNT_ID, name: "One" };

/** Starts an API with one account. */
export async function startCloudflareApi(account: CloudflareAccount): Promise<CloudflareApi> {
  const changes: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://api");
    const [, path = ""] = /^\/client\/v4\/(.*)$/.exec(pathname) ?? [];
    if (request.method !== "GET" && path !== "graphql") changes.push(`${request.method} ${path}`);
    const page = Number(searchParams.get("page") ?? 1);
    const result = page > 1 ? [] : answer(path.replace(`accounts/${ACCOUNT.id}/`, ""), account);
    const failed = { success: false, errors: [{ code: 10_000, message: "not found" }], result: null };
    const body =
      path === "graphql"
        ? { data: { viewer: { accounts: [{}] } }, errors: null }
        : result === undefined
          ? failed
          : { success: true, errors: [], messages: [], result };
    response.writeHead(result === undefined && path !== "graphql" ? 404 : 200, {
      "Content-Type": "application/json",
    });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`,
    changes,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function answer(path: string, account: CloudflareAccount): unknown {
  const { namespaces, buckets, secrets, deployed, plan } = account;
  const [, bucket] = /^r2\/buckets\/([^/]+)$/.exec(path) ?? [];
  const [, script = "", resource] = /^workers\/scripts\/([^/]+)\/(\w+)/.exec(path) ?? [];
  if (path === "user/tokens/verify") return { id: "token", status: "active" };
  if (path === "user") return { id: "user", email: "owner@example.com" };
  if (path === "accounts") return [ACCOUNT];
  if (path === "memberships") return [{ id: "member", account: ACCOUNT }];
  if (path === "subscriptions") return plan === null ? undefined : [{ rate_plan: { id: plan } }];
  if (path === "storage/kv/namespaces") return namespaces.map((id) => ({ id, title: id }));
  if (bucket && buckets.includes(bucket))
    return { name: bucket, creation_date: "2026-11-01", location: "EEUR", storage_class: "Standard" };
  if (resource === "secrets" && secrets) return secrets.map((name) => ({ name, type: "secret_text" }));
  if (resource === "deployments" && deployed.includes(script)) return { deployments: [DEPLOYMENT] };
  if (resource === "versions")
    return {
      id: "version",
      number: 1,
      metadata: { created_on: DEPLOYMENT.created_on },
      resources: { bindings: [] },
    };
  return undefined;
}

const DEPLOYMENT = {
  id: "deployment",
  source: "wrangler",
  strategy: "percentage",
  author_email: "owner@example.com",
  annotations: {},
  created_on: "2026-11-01T00:00:00Z",
  versions: [{ version_id: "version", percentage: 100 }],
};
