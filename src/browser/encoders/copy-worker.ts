import { createCopyEncoder } from "../../encoders/copy.ts";
import { serveIsolated } from "./isolated-encoder.ts";

serveIsolated(createCopyEncoder());
