import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type ApiKey, type NewApiKey, SCOPES, type Scope } from "../../src/client/index.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { ActButton, Choices, Confirm, SecretDialog, When } from "./controls.tsx";
import { type Column, createPaged, type Paged, Records } from "./records.tsx";
import { SendRow, useSending } from "./sending.tsx";
import { usePolling, useService } from "./service.ts";

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

const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  read: "See tasks, files and settings",
  write: "Create, change and delete them",
  admin: "Manage keys and see the service's metrics",
  "connections.sign": "Sign requests to your storage, for pages without its keys",
  "connections.manage": "Create, change and delete connections",
};

function KeyForm({ onMade, onClose }: { onMade: (key: NewApiKey) => void; onClose: () => void }) {
  const { client, tell } = useService();
  const form = useSending(
    async (given) => {
      const scopes = given.getAll("scopes") as Scope[];
      onMade(await client.keys.create({ name: String(given.get("name")).trim(), scopes }));
    },
    ["name", "scopes"],
    tell,
  );
  return (
    <Dialog title="New key" onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        <Field label="Name" hint="Who or what uses it, such as Web shop." fault={form.at("name")}>
          {(control) => <input {...control} name="name" autoComplete="off" />}
        </Field>
        <Choices legend="It may" fault={form.at("scopes")}>
          {SCOPES.map((scope) => (
            <label key={scope} class="choice">
              <input
                type="checkbox"
                name="scopes"
                value={scope}
                defaultChecked={scope === "read" || scope === "write"}
              />
              <span>
                <code>{scope}</code> <span class="soft">· {SCOPE_WORDS[scope]}</span>
              </span>
            </label>
          ))}
        </Choices>
        <SendRow form={form} label="Create" busy="Creating…" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
