import { expect, test } from "vitest";
import { checkHost, createHostGuard } from "../../src/storage/http/host-guard.ts";
import { PRIVATE } from "./private-hosts.ts";

const PUBLIC = [
  "http://example.com/a.mp4",
  "https://media.example.com:8443/a.mp4?sig=1#t",
  "https://EXAMPLE.com./a.mp4",
  "http://1.1.1.1/",
  "http://8.8.8.8:8080/",
  "http://172.15.255.255/",
  "http://172.32.0.1/",
  "http://100.63.255.255/",
  "http://100.128.0.1/",
  "http://169.253.0.1/",
  "http://192.167.255.255/",
  "http://11.0.0.1/",
  "http://[2606:4700:4700::1111]/",
  "http://[2a00:1450:4001:81b::200e]/",
  "http://local.example.com/",
  "http://internal-docs.example.com/",
  "http://localhost.example.com/",
  "http://10.0.0.1.example.com/",
];

const NOT_A_SOURCE = [
  "ftp://example.com/a.mp4",
  "file:///etc/passwd",
  "data:video/mp4;base64,AAAA",
  "javascript:alert(1)",
  "s3://bucket/key",
  "http://user@example.com/",
  "http://user:password@example.com/",
  "//example.com/a.mp4",
  "not a URL",
  "http://",
  "http://256.256.256.256/",
  "http://[::1",
  "http://a b/",
];

const rejection = (url: string, rules = {}) => {
  try {
    checkHost(url, rules);
  } catch (thrown) {
    return (thrown as { kind?: string }).kind;
  }
  return null;
};

test.for(PUBLIC)("allows %s", (url) => expect(rejection(url)).toBeNull());
test.for(PRIVATE)("rejects %s", (url) => {
  expect(rejection(url)).toBe("input_forbidden");
  expect(rejection(url.replace("http:", "https:"))).toBe("input_forbidden");
  expect(rejection(url, { allowPrivate: true })).toBeNull();
});
test.for(NOT_A_SOURCE)("rejects %s under any rules", (url) => {
  expect(rejection(url)).toBe("input_forbidden");
  expect(rejection(url, { allowPrivate: true })).toBe("input_forbidden");
});

test("allows listed private hosts and only those", () => {
  const rules = { allowed_hosts: ["NAS.lan", "192.168.1.10:9000", "[fd00::5]"] };
  expect(rejection("http://nas.lan/a", rules)).toBeNull();
  expect(rejection("http://nas.lan:81/a", rules)).toBeNull();
  expect(rejection("http://192.168.1.10:9000/a", rules)).toBeNull();
  expect(rejection("http://[fd00:0::5]/a", rules)).toBeNull();
  expect(rejection("http://192.168.1.10/a", rules)).toBe("input_forbidden");
  expect(rejection("http://evil.nas.lan/a", rules)).toBe("input_forbidden");
  expect(rejection("http://192.168.1.11:9000/a", rules)).toBe("input_forbidden");
});

test("leaves the path and query, which may be secret, out of the message", () => {
  expect(() => createHostGuard({})("http://localhost/a?token=hush")).toThrow(
    /^(?!.*hush).*localhost.*public/,
  );
});

test("resolves names that the rules do not list, and rejects a name with any private address", async () => {
  const hostnames: string[] = [];
  const guard = createHostGuard({ allowed_hosts: ["nas.lan"] }, async (name) => {
    hostnames.push(name);
    if (name === "unknown.example.com") throw new Error("no such name");
    return name.split(".")[0] === "mixed" ? ["8.8.8.8", "fd00::1"] : ["8.8.8.8", "2606:4700::1"];
  });
  for (const host of ["8.8.8.8", "[2606:4700::1]", "nas.lan", "good.example.com", "unknown.example.com"]) {
    await expect(guard(`http://${host}/`)).resolves.toBeUndefined();
  }
  await expect(guard("http://mixed.example.com/")).rejects.toThrow(
    "The host mixed.example.com has an address",
  );
  await expect(guard("http://localhost/")).rejects.toThrow("localhost is not public");
  expect(hostnames).toEqual(["good.example.com", "unknown.example.com", "mixed.example.com"]);
});
