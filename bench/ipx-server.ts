import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createIPX, createIPXNodeServer, ipxHttpStorage } from "ipx";

// ipx with sharp, in a process of its own as it is run in production; tells the port that it listens on.
const ipx = createIPX({
  storage: ipxHttpStorage({ domains: ["127.0.0.1"] }),
  httpStorage: ipxHttpStorage({ domains: ["127.0.0.1"] }),
});
const server = createServer(createIPXNodeServer(ipx));
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
