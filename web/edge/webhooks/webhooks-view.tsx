import { Deliveries } from "./deliveries.tsx";
import { Endpoints } from "./endpoints.tsx";
import { Events } from "./events.tsx";
import { ProjectSecret } from "./project-secret.tsx";

/** Endpoints, deliveries and events of the service. */
export function WebhooksView() {
  return (
    <div class="stack">
      <Endpoints />
      <Deliveries />
      <Events />
      <ProjectSecret />
    </div>
  );
}
