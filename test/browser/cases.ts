import type { Clause } from "../fixtures/contract.ts";

/** Test cases that run in a page, by name; each `*.page.ts` module exports one table of them as `CASES`. */
export type Cases = Readonly<Record<string, () => Promise<void>>>;

/** Turns the clauses of a contract into cases, each with its own adapter. */
export function casesOf<Port>(
  contract: readonly Clause<Port>[],
  create: (name: string) => Port | Promise<Port>,
): Cases {
  return Object.fromEntries(
    contract.map(({ name, check }) => [name, async () => check(await create(name))] as const),
  );
}
