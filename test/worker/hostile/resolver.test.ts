import { expect, onTestFinished, test } from "vitest";
import { startHttpsResolver } from "../../fixtures/dns-over-https.ts";
import { startService } from "../api/service.ts";

// As the owner of a name may set them; every answer of the resolver begins with an alias.
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "public.example.com": ["93.184.216.34"],
  "inside.example.com": ["10.1.2.3"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
};

test("a deployed service asks the resolver of DNS_RESOLVER, and refuses names with private addresses", async () => {
  const resolver = await startHttpsResolver((name) => NAMES[name] ?? []);
  onTestFinished(() => resolver.close());
  const service = await startService("a-key", {
    ALLOW_PRIVATE_NETWORK: "false",
    DNS_RESOLVER: resolver.url,
  });
  onTestFinished(() => service.close());
  for (const [name, expected] of [
    ["public.example.com", [201, undefined, undefined]],
    ["inside.example.com", [400, "invalid_input", "input"]],
    ["mapped.example.com", [400, "invalid_input", "input"]],
  ] as const) {
    const headers = { Authorization: "Bearer a-key", "Content-Type": "application/json" };
    const body = JSON.stringify({ input: `https://${name}/a.png`, kind: "image" });
    const response = await fetch(`${service.base}/tasks`, { method: "POST", headers, body });
    const { kind, param } = (await response.json()) as { kind?: string; param?: string };
    expect([name, response.status, errorKind(kind), param]).toEqual([name, ...expected]);
    expect(resolver.asked).toEqual(expect.arrayContaining([`A ${name}`, `AAAA ${name}`]));
  }
});

// A task has a kind too.
const errorKind = (kind: string | undefined) => (kind === "image" ? undefined : kind);
