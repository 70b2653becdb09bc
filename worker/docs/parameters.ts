import { LIST_LIMIT, type ListSort } from "../../src/core/lists.ts";
import type { Parameter } from "./operation.ts";

/** The id in a path. */
export function idParameter(sort: ListSort, example: string): Parameter[] {
  return [
    {
      name: "id",
      in: "path",
      required: true,
      description: `Id of the ${sort}.`,
      schema: { type: "string" },
      example,
    },
  ];
}

/** The header by which a stream of events goes on. */
export const lastEventId: Parameter[] = [
  {
    name: "Last-Event-ID",
    in: "header",
    description: "The last event that was seen.",
    schema: { type: "string", examples: ["3"] },
  },
];

/** The query of a list. */
export function listParameters(
  sort: ListSort,
  statuses: readonly string[] | null,
  kinds: readonly string[] | null,
  example: string,
): Parameter[] {
  const query = (name: string, description: string, schema: object) =>
    ({ name, in: "query", required: false, description, schema }) as const;
  // Examples stand in the schema: as the parameter's own the reference page would fill them in.
  const cursor = { type: "string", examples: [example] };
  return [
    query("limit", "Records on the page.", {
      type: "integer",
      minimum: LIST_LIMIT.min,
      maximum: LIST_LIMIT.max,
      default: LIST_LIMIT.default,
    }),
    query("after", `Id of a ${sort}: the page starts after it. Not together with \`before\`.`, cursor),
    query("before", `Id of a ${sort}: the page ends before it.`, cursor),
    query("order", "By time of creation.", { type: "string", enum: ["asc", "desc"], default: "desc" }),
    ...(statuses
      ? [query("status", "Only records in this state.", { type: "string", enum: [...statuses] })]
      : []),
    ...(kinds ? [query("kind", "Only records of this kind.", { type: "string", enum: [...kinds] })] : []),
  ];
}
