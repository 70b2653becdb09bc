import { createAvifEncoder } from "../encoders/avif.ts";
import { followLife } from "../encoders/encoder-worker-life.ts";
import { serveApart } from "./apart-worker.ts";

// The media worker names this worker by where the wasm is, and what tells whether it is still wanted.
const [wasm = "", life = ""] = (globalThis as unknown as { name: string }).name.split(" ");
serveApart(createAvifEncoder({ wasm, guard: followLife(life).guard }));
