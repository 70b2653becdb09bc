import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

class IdleRun extends RpcTarget {
  status() {
    return { status: "queued" };
  }
  terminate() {}
}

/** Stands in for the engine and leaves every run queued. */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default class IdleRuns extends WorkerEntrypoint {
  create() {}
  get() {
    return new IdleRun();
  }
}
