import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Connection } from "../../../src/client/index.ts";
import { ActButton } from "../shared/act-button.tsx";
import { Confirm } from "../shared/confirm.tsx";
import { createPaged, type Paged } from "../shared/paged.ts";
import type { Column } from "../shared/record-table.tsx";
import { Records } from "../shared/records.tsx";
import { useService } from "../shared/service.ts";
import { When } from "../shared/when.tsx";
import { usePolling } from "../shared/while-visible.ts";
import { ConnectionForm } from "./connection-form.tsx";
import { ConnectionTry } from "./connection-try.tsx";

const POLL_MS = 15_000;

const COLUMNS: Column<Connection>[] = [
  {
    title: "Name",
    cell: ({ name, is_default }) => (
      <span class="row">
        <strong class="wrap">{name}</strong>
        {is_default && <span class="badge good">Default</span>}
      </span>
    ),
  },
  {
    title: "Storage",
    cell: ({ endpoint, region, access_key_id }) => (
      <div class="place">
        <span>{endpoint}</span>
        <span class="soft small">
          {region} · key {access_key_id}
        </span>
      </div>
    ),
  },
  { title: "Changed", cell: ({ updated_at }) => <When at={updated_at} /> },
];

type Open =
  | { what: "form"; connection: Connection | null }
  | { what: "try" | "delete"; connection: Connection };

/** The S3-compatible storage that the service may read from and write to. */
export function ConnectionsView() {
  const { client, tell } = useService();
  const list = useMemo(
    () => createPaged<Connection>((asked) => client.connections.list(asked), tell),
    [client, tell],
  );
  const open = useSignal<Open | null>(null);
  usePolling(list.refresh, POLL_MS);
  const close = () => {
    open.value = null;
  };
  const show = (what: Open) => {
    open.value = what;
  };

  return (
    <Records
      title="Connections"
      bar={<p class="soft">Storage of your own (S3), for inputs and destinations that begin with s3://.</p>}
      add={{ label: "New connection", onClick: () => show({ what: "form", connection: null }) }}
      list={list}
      empty="There are no connections yet. Add one with “New connection”, and tasks can read from and write to your own bucket."
      columns={COLUMNS}
      nameOf={({ name }) => name}
      actions={(connection) => <Actions connection={connection} list={list} open={show} />}
    >
      <Dialogs open={open.value} list={list} close={close} />
    </Records>
  );
}

function Dialogs({ open, list, close }: { open: Open | null; list: Paged<Connection>; close: () => void }) {
  const { connections } = useService().client;
  if (!open) return null;
  if (open.what === "form")
    return (
      <ConnectionForm connection={open.connection} onSaved={() => void list.refresh()} onClose={close} />
    );
  const { connection } = open;
  if (open.what === "try") return <ConnectionTry connection={connection} onClose={close} />;
  const act = async () => {
    await connections.delete(connection.id);
    list.drop(connection.id);
    close();
    // The default may have moved to another connection.
    await list.refresh();
  };
  return (
    <Confirm title="Delete this connection?" action="Delete" act={act} onClose={close}>
      The service forgets the keys of {connection.name}. Tasks that need it fail from then on; what is in the
      storage stays.
    </Confirm>
  );
}

function Actions({
  connection,
  list,
  open,
}: {
  connection: Connection;
  list: Paged<Connection>;
  open: (what: Open) => void;
}) {
  const { connections } = useService().client;
  const of = connection.name;
  const makeDefault = async () => {
    list.put(await connections.update(connection.id, { is_default: true }));
    // The previous default is none any longer.
    await list.refresh();
  };
  return (
    <>
      <ActButton
        {...{ label: "Test", of, icon: "play" }}
        act={async () => open({ what: "try", connection })}
      />
      {!connection.is_default && (
        <ActButton {...{ label: "Make default", of, icon: "check" }} act={makeDefault} />
      )}
      <ActButton
        {...{ label: "Edit", of, icon: "options" }}
        act={async () => open({ what: "form", connection })}
      />
      <ActButton
        {...{ label: "Delete", of, icon: "remove", look: "icon" }}
        act={async () => open({ what: "delete", connection })}
      />
    </>
  );
}
