import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

class IdleRun extends RpcTarget {
  status() {
    return { status: "queued" };
  }
  terminate() {}
}

/** Stands where the engine does, and lets every run wait for its turn for ever. */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default class IdleRuns extends WorkerEntrypoint {
  create() {}
  get() {
    return new IdleRun();
  }
}
