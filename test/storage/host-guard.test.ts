import { expect, test } from "vitest";
import { checkHost, createHostGuard } from "../../src/storage/host-guard.ts";

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

const PRIVATE = [
  // Loopback, by name and in every notation.
  "http://localhost/",
  "http://LOCALHOST/",
  "http://localhost./",
  "http://localhost../",
  "http://api.localhost/",
  "http://a.b.localhost.:8080/",
  "http://127.0.0.1/",
  "http://127.0.0.1./",
  "http://127.255.255.254/",
  "http://127.1/",
  "http://127.0.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.0x0.0x0.0x1/",
  "http://0X7F.1/",
  "http://017700000001/",
  "http://0177.0.0.1/",
  "http://0177.0x0.1/",
  "http://00000177.0.0.1/",
  "http://127.0.0.0x1/",
  "http://%31%32%37.0.0.1/",
  "http://127%2e0%2e0%2e1/",
  "http://１２７.0.0.1/",
  "http://127。0。0。1/",
  "http://①②⑦.0.0.1/",
  "http://ｌｏｃａｌｈｏｓｔ/",
  "http://loc%61lhost/",
  "http://[::1]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[0000::0001]/",
  // Unspecified and "this network".
  "http://0/",
  "http://0.0.0.0/",
  "http://0x0/",
  "http://0.1.2.3/",
  "http://[::]/",
  // Private.
  "http://10.0.0.1/",
  "http://10.255.255.255/",
  "http://167772161/",
  "http://012.0.0.1/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.0.1/",
  "http://192.168.257/",
  "http://3232235777/",
  "http://0xc0a80101/",
  // Shared (carrier-grade NAT).
  "http://100.64.0.1/",
  "http://100.127.255.255/",
  "http://100.100.100.200/",
  // Link-local and metadata.
  "http://169.254.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://169.254.170.2/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://0251.0376.0251.0376/",
  "http://168.63.129.16/",
  "http://192.0.0.192/",
  "http://metadata.google.internal/",
  "http://metadata.google.internal./",
  "http://metadata/",
  "http://[fd00:ec2::254]/",
  "http://[fd20:ce::254]/",
  "http://[fe80::1]/",
  "http://[febf::1]/",
  // Multicast, broadcast, reserved, documentation, benchmarking.
  "http://224.0.0.1/",
  "http://239.255.255.250/",
  "http://255.255.255.255/",
  "http://0xffffffff/",
  "http://240.0.0.1/",
  "http://192.0.2.1/",
  "http://198.18.0.1/",
  "http://198.51.100.1/",
  "http://203.0.113.1/",
  "http://[ff02::1]/",
  "http://[2001:db8::1]/",
  "http://[100::1]/",
  // Unique local and site-local.
  "http://[fc00::1]/",
  "http://[fdff:ffff::1]/",
  "http://[fec0::1]/",
  // IPv4 in IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
  "http://[::ffff:8.8.8.8]/",
  "http://[::127.0.0.1]/",
  "http://[::7f00:1]/",
  "http://[::ffff:0:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b::10.0.0.1]/",
  "http://[64:ff9b:1::1]/",
  "http://[2002:7f00:1::]/",
  "http://[2002:a9fe:a9fe::1]/",
  "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
  "http://[2001::1]/",
  "http://[4000::1]/",
  // Names of private networks.
  "http://printer.local/",
  "http://printer.local./",
  "http://db.internal/",
  "http://x.localdomain/",
  "http://nas.lan/",
  "http://router.home.arpa/",
  "http://wiki.corp/",
  "http://intranet/",
  "http://db:5432/",
  "http://ip6-localhost/",
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

const refused = (url: string, rules = {}) => {
  try {
    checkHost(url, rules);
  } catch (thrown) {
    return (thrown as { kind?: string }).kind;
  }
  return null;
};

test.for(PUBLIC)("lets %s through", (url) => expect(refused(url)).toBeNull());
test.for(PRIVATE)("refuses %s", (url) => {
  expect(refused(url)).toBe("input_forbidden");
  expect(refused(url.replace("http:", "https:"))).toBe("input_forbidden");
  expect(refused(url, { allow_private: true })).toBeNull();
});
test.for(NOT_A_SOURCE)("refuses %s whatever the rules are", (url) => {
  expect(refused(url)).toBe("input_forbidden");
  expect(refused(url, { allow_private: true })).toBe("input_forbidden");
});

test("lets named private hosts through, and only those", () => {
  const rules = { allowed_hosts: ["NAS.lan", "192.168.1.10:9000", "[fd00::5]"] };
  expect(refused("http://nas.lan/a", rules)).toBeNull();
  expect(refused("http://nas.lan:81/a", rules)).toBeNull();
  expect(refused("http://192.168.1.10:9000/a", rules)).toBeNull();
  expect(refused("http://[fd00:0::5]/a", rules)).toBeNull();
  expect(refused("http://192.168.1.10/a", rules)).toBe("input_forbidden");
  expect(refused("http://evil.nas.lan/a", rules)).toBe("input_forbidden");
  expect(refused("http://192.168.1.11:9000/a", rules)).toBe("input_forbidden");
});

test("says nothing of the path and query, which may be secret", () => {
  expect(() => createHostGuard({})("http://localhost/a?token=hush")).toThrow(
    /^(?!.*hush).*localhost.*public/,
  );
});
