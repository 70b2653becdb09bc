import { serveApi } from "./serve-api.ts";

// The library routes a container's outbound requests through this export to NativeEncoder's rules.
export { ContainerProxy } from "@cloudflare/containers";
export { ImageObject } from "./images/image-object.ts";
export { JobObject } from "./jobs/job-object.ts";
export { QueueObject } from "./limits/queue-object.ts";
export { UploadObject } from "./media/upload-object.ts";
export { NativeEncoder } from "./native-encoder.ts";
export { KeyObject, ProjectObject } from "./project-object.ts";
export { TaskObject } from "./run/task-object.ts";
export { TaskWorkflow } from "./run/workflow.ts";

/** The service Worker. This export handles HTTP; the Workflow, the Durable Objects and the containers are the other exports. */
export default {
  fetch: (request, bindings) => serveApi(request, bindings),
} satisfies ExportedHandler<Bindings>;
