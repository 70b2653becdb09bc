import { expect, test } from "vitest";
import { begun, MB, object, parts, pattern, proxy, reopen, rig, upload, wait } from "./client-s3-lab.ts";

test("with signed URLs the page needs no key: uploads in parts or in one request; a refusal to sign is an error", async () => {
  await reopen("signed");
  const size = 6 * MB;
  expect((await wait(await upload("signed", size))).error).toBe(null);
  expect([begun(), parts().sort()]).toEqual([1, [1, 2]]);
  expect((await object("signed")).bytes.equals(pattern(size))).toBe(true);
  const probe = await rig.lab.page.evaluate(async () => {
    const input = { url: "s3://pages/films/my clip+é.mp4" };
    return kit.client.steps.wait(await kit.client.steps.create({ kind: "probe", input }));
  });
  expect(probe.output).toMatchObject({ format: "mp4", width: 80, url: "s3://pages/films/my clip+é.mp4" });

  await reopen("single");
  proxy.fail(null);
  expect((await wait(await upload("single", size))).error).toBe(null);
  expect(parts()).toEqual([null]);
  expect((await object("single")).bytes.equals(pattern(size))).toBe(true);
  const refused = await rig.lab.page.evaluate(async () => {
    const options = { url: "s3://elsewhere/key" };
    return kit.client.steps.wait(
      await kit.client.steps.create({ kind: "upload", input: new Blob(["a"]), options }),
    );
  });
  expect(refused.error).toMatchObject({
    kind: "upload_failed",
    message: "The page could not get the storage request signed.",
  });
});

test("rejects requests without a connection, with an unknown one, or with an invalid key at once", async () => {
  const kinds = () =>
    rig.lab.page.evaluate(async () => {
      const { client } = kit;
      const kindOf = (work: Promise<unknown>) =>
        work.then(
          () => null,
          (thrown: unknown) => [Reflect.get(Object(thrown), "kind"), Reflect.get(Object(thrown), "param")],
        );
      const input = new Blob(["a"]);
      const url = "s3://pages/key";
      return [
        await kindOf(client.tasks.create({ input, kind: "image", output: url })),
        await kindOf(client.tasks.create({ input: url, kind: "image" })),
        await kindOf(client.steps.create({ kind: "upload", input, options: { url } })),
        await kindOf(
          client.steps.create({ kind: "upload", input, options: { url, connection_id: "conn_other" } }),
        ),
        await kindOf(client.tasks.create({ input, kind: "image", output: "s3://pages/a/../b" })),
      ];
    });
  expect((await kinds()).slice(3)).toEqual([
    ["connection_not_found", "options.connection_id"],
    ["invalid_output", "output"],
  ]);
  await reopen("none");
  expect((await kinds()).slice(0, 4)).toEqual([
    ["connection_required", "output"],
    ["connection_required", "input"],
    ["connection_required", "options.connection_id"],
    ["connection_not_found", "options.connection_id"],
  ]);
});
