import type { Place } from "../queue/item.ts";
import { Segments } from "../ui/segments.tsx";
import { useWorkbench } from "../workbench.ts";
import type { Form } from "./use-form.ts";

const PLACES = [
  { value: "device", label: "This device" },
  { value: "edge", label: "Edge" },
] as const;

/** Where the work runs, and what that means for the file. */
export function PlaceField({ form: { wishes, wish } }: { form: Form }) {
  const connection = useWorkbench().edge.connection.value;
  if (!connection && wishes.place === "device") {
    return (
      <p class="soft small">
        Runs on this device. <a href="#/edge">Connect a service</a> to run it there.
      </p>
    );
  }
  const host = connection && URL.parse(connection.base_url)?.host;
  return (
    <Segments<Place>
      label="Where"
      choices={PLACES}
      value={wishes.place}
      onChange={(place) => wish((now) => ({ ...now, place }))}
      hint={
        wishes.place === "device"
          ? "The file stays on this device."
          : `The file is sent to ${host ?? "the service"} and processed there.`
      }
      fault={
        wishes.place === "edge" && !connection
          ? "No service is connected, so this device is used. Connect under Edge."
          : null
      }
    />
  );
}
