import { createAvifEncoder } from "../encoders/avif.ts";
import { serveApart } from "./apart-worker.ts";

// The media worker names this worker by where the wasm is.
serveApart(createAvifEncoder({ wasm: (globalThis as unknown as { name: string }).name }));
