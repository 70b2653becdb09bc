import { lookup, Resolver } from "node:dns/promises";
import { mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { unstable_startWorker } from "wrangler";
import type { LookUp } from "../../src/storage/http/host-guard.ts";
import { within } from "../../src/util/async.ts";

type Bindings = NonNullable<Parameters<typeof unstable_startWorker>[0]["bindings"]>;
type Handler = Extract<Bindings[string], { type: "fetcher" }>["fetcher"];

// Ranges that workerd may count as "public" although they are not; 168.63.129.16 is Azure's wire server.
const DENIED = [
  "0.0.0.0/8",
  "168.63.129.16/32",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  // All of IPv6 except the globally routed 2000::/3, and the special ranges within that.
  "::/3",
  "4000::/2",
  "8000::/1",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
] as const;

/**
 * Returns the bindings through which the local service Worker reaches callers' hosts: a network limited to public addresses,
 * which workerd checks on connecting, and a DNS lookup. `dns` lists name servers, `address:port`, to use instead of the system's.
 */
export function outsideBindings(dns: readonly string[] | null): Bindings {
  const network = {
    network: { allow: ["public"], deny: [...DENIED], tlsOptions: { trustBrowserCas: true } },
  };
  const lookUp = createLookUp(dns);
  const answer = async (request: { url: string }) =>
    Response.json(await lookUp(decodeURIComponent(new URL(request.url).pathname.slice(1))));
  return {
    // wrangler passes fetchers to Miniflare unchanged, and Miniflare accepts networks too.
    OUTSIDE: { type: "fetcher", fetcher: network as unknown as Handler },
    LOOKUP: { type: "fetcher", fetcher: answer as unknown as Handler },
  };
}

/** Creates a folder and returns the binding through which the local service Worker stores its media there. */
export function diskBinding(path: string): Bindings {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  tidy(path);
  const disk = { disk: { path, writable: true } };
  return { DISK: { type: "fetcher", fetcher: disk as unknown as Handler } };
}

// The disk service first writes to a hidden temporary file named after its process, and its listings omit hidden files.
const WRITING = /^\..*\.(\d+)\.\d+\.tmp$/;

// The disk service keeps empty folders, and a killed process leaves its temporary file behind.
function tidy(folder: string): boolean {
  let empty = true;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const [, writer] = WRITING.exec(entry.name) ?? [];
    if (entry.isDirectory() && tidy(path)) rmdirSync(path);
    else if (entry.isFile() && writer !== undefined && !runs(Number(writer))) rmSync(path, { force: true });
    else empty = false;
  }
  return empty;
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

const LOOKUP_MS = 5000;

/** Resolves names with the system's resolver or with name servers, `address:port`. A lookup that fails or takes over 5 s returns no addresses. */
export function createLookUp(dns: readonly string[] | null): LookUp {
  if (!dns) {
    return async (hostname) => {
      const pending = lookup(hostname, { all: true }).catch(() => []);
      const addresses = await within(pending, LOOKUP_MS, () => []);
      return addresses.map(({ address }) => address);
    };
  }
  const resolver = new Resolver({ timeout: LOOKUP_MS, tries: 1 });
  resolver.setServers(dns);
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return answers.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  };
}
