import { createAvifEncoder } from "../../encoders/images/avif.ts";
import { createCanvasEncoder } from "../../encoders/images/canvas.ts";
import { watchLease } from "../../encoders/wasm/worker-protocol.ts";
import { serveIsolated } from "./isolated-encoder.ts";

// The worker's name carries the URL of the AVIF wasm and the lock that ends this worker with the media worker.
const [wasm = "", lease = ""] = (globalThis as unknown as { name: string }).name.split(" ");
const [avif, canvas] = [createAvifEncoder({ wasm, guard: watchLease(lease).guard }), createCanvasEncoder()];
serveIsolated({ encode: (job) => (job.plan.format === "avif" ? avif : canvas).encode(job) });
