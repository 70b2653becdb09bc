import type { Clause } from "../fixtures/contract.ts";

/** Things that must hold in a page, by what they say; a module `*.page.ts` exports one table of them as `CASES`. */
export type Cases = Readonly<Record<string, () => Promise<void>>>;

/** Makes cases of a contract: each clause on an adapter of its own. */
export function casesOf<Port>(
  contract: readonly Clause<Port>[],
  create: (name: string) => Port | Promise<Port>,
): Cases {
  return Object.fromEntries(
    contract.map(({ name, check }) => [name, async () => check(await create(name))] as const),
  );
}
