import { isFinished, type Task } from "../../../src/index.ts";
import { ActButton } from "../shared/act-button.tsx";
import { Confirm } from "../shared/confirm.tsx";
import { placeOf } from "../shared/place.ts";
import { useService } from "../shared/service.ts";

/** The actions on a task in the list; `put` receives the changed task. */
export function TaskActions({
  task,
  put,
  onDelete,
}: {
  task: Task;
  put: (task: Task) => void;
  onDelete: () => void;
}) {
  const { tasks } = useService().client;
  const of = placeOf(task.input).name;
  if (!isFinished(task))
    return (
      <ActButton
        {...{ label: "Cancel", of, icon: "cancel", look: "icon" }}
        act={async () => put(await tasks.cancel(task.id))}
      />
    );
  return (
    <>
      <ActButton
        {...{
          label: task.status === "succeeded" ? "Run again" : "Try again",
          of,
          icon: "refresh",
          look: "icon",
        }}
        act={async () => put(await tasks.retry(task.id))}
      />
      <ActButton {...{ label: "Delete", of, icon: "remove", look: "icon" }} act={async () => onDelete()} />
    </>
  );
}

export function DeleteTask({
  task,
  onGone,
  onClose,
}: {
  task: Task;
  onGone: (id: string) => void;
  onClose: () => void;
}) {
  const { tasks } = useService().client;
  const act = async () => {
    await tasks.delete(task.id);
    onGone(task.id);
    onClose();
  };
  return (
    <Confirm title="Delete this task?" action="Delete" act={act} onClose={onClose}>
      {placeOf(task.input).name} is taken off the list, and what the service keeps of its output is removed
      for good.
    </Confirm>
  );
}
