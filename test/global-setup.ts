import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type Service, startService } from "../worker/local/service.ts";
import { parseSettings } from "../worker/local/settings.ts";
import { SHARED_KEYS } from "./shared-service.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Answers with the URL of the shared service, which it starts when it is first asked. */
    shared_service: string;
  }
}

/** Offers the tests one local service that they share; it starts only when a test asks for it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-test-"));
  const env = { PORT: "0", API_KEYS: SHARED_KEYS.join(","), STATE_DIR: join(folder, "state") };
  let service: Promise<Service> | undefined;
  const server = createServer((_, response) => {
    service ??= startService(parseSettings(env));
    service.then(
      ({ url }) => response.end(url),
      (thrown: unknown) => response.writeHead(500).end(String(thrown)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  project.provide("shared_service", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    await service?.then(({ stop }) => stop()).catch(() => {});
    await rm(folder, { recursive: true, force: true });
  };
}
