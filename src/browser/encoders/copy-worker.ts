import { createCopyEncoder } from "../../encoders/run/copy.ts";
import { serveIsolated } from "./isolated-worker.ts";

serveIsolated(createCopyEncoder());
