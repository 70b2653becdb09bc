import type { WebhookEndpoint } from "../../../src/client/index.ts";
import { Confirm } from "../shared/confirm.tsx";
import type { Paged } from "../shared/paged.ts";
import { SecretDialog } from "../shared/secret-dialog.tsx";
import { useService } from "../shared/service.ts";
import { EndpointForm } from "./endpoint-form.tsx";

export type EndpointDialog =
  | { what: "new" }
  | { what: "secret"; secret: string }
  | { what: "rotate" | "delete"; endpoint: WebhookEndpoint };

/** What the parts of the endpoint list share. */
export interface EndpointParts {
  list: Paged<WebhookEndpoint>;
  /** Opens another dialog; null closes it. */
  show: (what: EndpointDialog | null) => void;
}

export function EndpointDialogs({ open, list, show }: EndpointParts & { open: EndpointDialog | null }) {
  const { endpoints } = useService().client.webhooks;
  const close = () => show(null);
  switch (open?.what) {
    case undefined:
      return null;
    case "new":
      return (
        <EndpointForm
          onMade={({ secret, ...endpoint }) => {
            list.put(endpoint);
            show({ what: "secret", secret });
          }}
          onClose={close}
        />
      );
    case "secret":
      return (
        <SecretDialog
          title="The endpoint's secret"
          secret={open.secret}
          use="Your server uses it to verify that posts come from this service: pass it to verifyWebhook."
          onClose={close}
        />
      );
    case "rotate":
      return (
        <Confirm
          title="Create a new secret?"
          action="Create a new secret"
          act={async () => {
            const { secret } = await endpoints.rotate(open.endpoint.id);
            show({ what: "secret", secret });
          }}
          onClose={close}
        >
          The current one stays valid for one more day.
        </Confirm>
      );
    case "delete":
      return (
        <Confirm
          title="Delete this endpoint?"
          action="Delete"
          act={async () => {
            await endpoints.delete(open.endpoint.id);
            list.drop(open.endpoint.id);
            close();
          }}
          onClose={close}
        >
          Nothing more is posted to {open.endpoint.url}.
        </Confirm>
      );
  }
}
