import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { ApiKey, NewApiKey } from "../../../src/client/index.ts";
import { Notice } from "../../ui/notice.tsx";
import { ActButton } from "../shared/act-button.tsx";
import { Confirm } from "../shared/confirm.tsx";
import { createPaged, type Paged } from "../shared/paged.ts";
import type { Column } from "../shared/record-table.tsx";
import { Records } from "../shared/records.tsx";
import { SecretDialog } from "../shared/secret-dialog.tsx";
import { useService } from "../shared/service.ts";
import { When } from "../shared/when.tsx";
import { usePolling } from "../shared/while-visible.ts";
import { KeyForm } from "./key-form.tsx";

const POLL_MS = 15_000;

const COLUMNS: Column<ApiKey>[] = [
  { title: "Name", wide: true, cell: ({ name }) => <strong class="wrap">{name}</strong> },
  { title: "May", cell: ({ scopes }) => scopes.join(", ") },
  {
    title: "Last used",
    cell: ({ last_used_at }) => (last_used_at === null ? "Never" : <When at={last_used_at} />),
  },
  { title: "Created", cell: ({ created_at }) => <When at={created_at} /> },
  { title: "Id", cell: ({ id }) => <code title={id}>…{id.slice(-6)}</code> },
];

type Open = { what: "new" } | { what: "secret"; secret: string } | { what: "roll" | "revoke"; key: ApiKey };

/** The API keys of the project, for a key that may manage them. */
export function KeysView() {
  const { client, tell } = useService();
  const list = useMemo(() => createPaged<ApiKey>((asked) => client.keys.list(asked), tell), [client, tell]);
  const open = useSignal<Open | null>(null);
  usePolling(list.refresh, POLL_MS);
  const show = (what: Open | null) => {
    open.value = what;
  };
  if (list.fault.value?.kind === "forbidden")
    return (
      <section aria-label="Keys">
        <Notice>
          The key that this page is connected with may not manage keys: it lacks the scope <code>admin</code>.
          Connect with one that has it, or ask the person who runs the service.
        </Notice>
      </section>
    );
  return (
    <Records
      title="Keys"
      bar={<p class="soft">The keys of this project. Those in the settings of the service are not listed.</p>}
      add={{ label: "New key", onClick: () => show({ what: "new" }) }}
      list={list}
      empty="There are no keys yet. Create one for each page or program that uses the service."
      columns={COLUMNS}
      nameOf={({ name }) => name}
      actions={(key) => <Actions of={key.name} show={(what) => show({ what, key })} />}
    >
      <Dialogs open={open.value} list={list} show={show} />
    </Records>
  );
}

function Actions({ of, show }: { of: string; show: (what: "roll" | "revoke") => void }) {
  return (
    <>
      <ActButton {...{ label: "Roll", of, icon: "refresh" }} act={async () => show("roll")} />
      <ActButton {...{ label: "Revoke", of, icon: "remove" }} act={async () => show("revoke")} />
    </>
  );
}

function Dialogs({
  open,
  list,
  show,
}: {
  open: Open | null;
  list: Paged<ApiKey>;
  show: (what: Open | null) => void;
}) {
  const { keys } = useService().client;
  const close = () => show(null);
  const take = ({ secret = "", ...key }: NewApiKey) => {
    list.put(key);
    show({ what: "secret", secret });
  };
  switch (open?.what) {
    case undefined:
      return null;
    case "new":
      return <KeyForm onMade={take} onClose={close} />;
    case "secret":
      return (
        <SecretDialog
          title="The key"
          secret={open.secret}
          use="Send it as “Bearer” in the Authorization header, or pass it to a client as apiKey."
          onClose={close}
        />
      );
    case "roll":
      return (
        <Confirm
          title={`Roll ${open.key.name}?`}
          action="Roll"
          act={async () => take(await keys.roll(open.key.id))}
          onClose={close}
        >
          The key gets a new secret. The current one stays valid for one more day, so that you can replace it
          everywhere.
        </Confirm>
      );
    case "revoke":
      return (
        <Confirm
          title={`Revoke ${open.key.name}?`}
          action="Revoke"
          act={async () => {
            await keys.revoke(open.key.id);
            list.drop(open.key.id);
            close();
          }}
          onClose={close}
        >
          It stops working within five seconds. This can't be undone.
        </Confirm>
      );
  }
}
