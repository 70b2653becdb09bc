import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type ApiKey, type NewApiKey, SCOPES, type Scope } from "../../src/client/index.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { ActButton, Choices, Confirm, SecretDialog, SendRow, useSending, When } from "./controls.tsx";
import { type Column, createPaged, type Paged, Records } from "./records.tsx";
import { usePolling, useService } from "./service.ts";
import * as strings from "./strings.ts";

const POLL_MS = 15_000;

const COLUMNS: Column<ApiKey>[] = [
  { title: strings.name, wide: true, cell: ({ name }) => <strong class="wrap">{name}</strong> },
  { title: strings.may, cell: ({ scopes }) => scopes.join(", ") },
  {
    title: strings.lastUsed,
    cell: ({ last_used_at }) => (last_used_at === null ? strings.never : <When at={last_used_at} />),
  },
  { title: strings.created, cell: ({ created_at }) => <When at={created_at} /> },
  { title: strings.id, cell: ({ id }) => <code title={id}>…{id.slice(-6)}</code> },
];

type Open = { what: "new" } | { what: "secret"; secret: string } | { what: "roll" | "revoke"; key: ApiKey };

/** The API keys of the project, for a key that may manage them. */
export function KeysView() {
  const { client, explain } = useService();
  const list = useMemo(
    () => createPaged<ApiKey>((query) => client.keys.list(query), explain),
    [client, explain],
  );
  const open = useSignal<Open | null>(null);
  usePolling(list.refresh, POLL_MS);
  const show = (what: Open | null) => {
    open.value = what;
  };
  if (list.fault.value?.kind === "forbidden")
    return (
      <section aria-label={strings.keys}>
        <Notice>
          {strings.keyLacksScope} <code>admin</code>
          {strings.connectWithAnotherKey}
        </Notice>
      </section>
    );
  return (
    <Records
      title={strings.keys}
      bar={<p class="soft">{strings.keysPurpose}</p>}
      add={{ label: strings.newKey, onClick: () => show({ what: "new" }) }}
      list={list}
      empty={strings.noKeys}
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
      <ActButton {...{ label: strings.roll, of, icon: "refresh" }} act={async () => show("roll")} />
      <ActButton {...{ label: strings.revoke, of, icon: "remove" }} act={async () => show("revoke")} />
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
  const putKey = ({ secret = "", ...key }: NewApiKey) => {
    list.put(key);
    show({ what: "secret", secret });
  };
  switch (open?.what) {
    case undefined:
      return null;
    case "new":
      return <KeyForm onMade={putKey} onClose={close} />;
    case "secret":
      return (
        <SecretDialog
          title={strings.theKey}
          secret={open.secret}
          variable="FRAMEWRIGHT_API_KEY"
          use={strings.keyUse}
          onClose={close}
        />
      );
    case "roll":
      return (
        <Confirm
          title={strings.rollKey({ name: open.key.name })}
          action={strings.roll}
          act={async () => putKey(await keys.roll(open.key.id))}
          onClose={close}
        >
          {strings.keyRoll}
        </Confirm>
      );
    case "revoke":
      return (
        <Confirm
          title={strings.revokeKey({ name: open.key.name })}
          action={strings.revoke}
          act={async () => {
            await keys.revoke(open.key.id);
            list.drop(open.key.id);
            close();
          }}
          onClose={close}
        >
          {strings.keyRevocation}
        </Confirm>
      );
  }
}

const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  read: strings.scopeRead,
  write: strings.scopeWrite,
  admin: strings.scopeAdmin,
  "connections.sign": strings.scopeSign,
  "connections.manage": strings.scopeConnections,
};

function KeyForm({ onMade, onClose }: { onMade: (key: NewApiKey) => void; onClose: () => void }) {
  const { client, explain } = useService();
  const form = useSending(
    async (data) => {
      const scopes = data.getAll("scopes") as Scope[];
      onMade(await client.keys.create({ name: String(data.get("name")).trim(), scopes }));
    },
    ["name", "scopes"],
    explain,
  );
  return (
    <Dialog title={strings.newKey} onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        <Field label={strings.name} hint={strings.keyNameHint} fault={form.at("name")}>
          {(control) => <input {...control} name="name" autoComplete="off" />}
        </Field>
        <Choices legend={strings.itMay} fault={form.at("scopes")}>
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
        <SendRow form={form} label={strings.create} busy={strings.creating} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
