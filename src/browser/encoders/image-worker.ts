import { createAvifEncoder } from "../../encoders/images/avif.ts";
import { createCanvasEncoder } from "../../encoders/images/canvas.ts";
import { watchLease } from "../../encoders/wasm/worker-protocol.ts";
import { serveIsolated } from "./isolated-encoder.ts";

const [wasm = "", lease = ""] = (globalThis as unknown as { name: string }).name.split(" ");
const [avif, canvas] = [createAvifEncoder({ wasm, guard: watchLease(lease).guard }), createCanvasEncoder()];
serveIsolated({ encode: (job) => (job.plan.format === "avif" ? avif : canvas).encode(job) });
