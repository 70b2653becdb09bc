import { Deliveries } from "./deliveries.tsx";
import { Endpoints } from "./endpoints.tsx";
import { Events } from "./events.tsx";
import { ProjectSecret } from "./project-secret.tsx";

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
