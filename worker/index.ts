import { serveApi } from "./serve-api.ts";

// What a container sends out comes to this entry of the library, and from there to NativeEncoder's rules.
export { ContainerProxy } from "@cloudflare/containers";
export { ImageObject } from "./images/image-object.ts";
export { JobObject } from "./jobs/job-object.ts";
export { QueueObject } from "./limits/queue-object.ts";
export { UploadObject } from "./media/upload-object.ts";
export { NativeEncoder } from "./native-encoder.ts";
export { KeyObject, ProjectObject } from "./project-object.ts";
export { TaskObject } from "./run/task-object.ts";
export { TaskWorkflow } from "./run/workflow.ts";

/** The service Worker: HTTP comes in here, and the engine, the records and the containers are its other exports. */
export default {
  fetch: (request, bindings) => serveApi(request, bindings),
} satisfies ExportedHandler<Bindings>;
