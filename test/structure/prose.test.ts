import { expect, test } from "vitest";
import { createMemoryApi } from "../worker/api/memory-api.ts";
import { findTellTales, tellTalesIn } from "./prose.ts";
import { readSources } from "./source-files.ts";

test("no comment has the tell-tale words of translated prose", () => {
  const files = readSources("src", "worker", "web", "bench", "core", "test");
  expect(files.length).toBeGreaterThan(700);
  expect(files.flatMap(findTellTales)).toEqual([]);
});

test("no description in the API's document has them", async () => {
  const { app } = createMemoryApi();
  const text = await (await app.request("/openapi.json")).text();
  const descriptions: string[] = [];
  JSON.parse(text, (name, value) => {
    if ((name === "description" || name === "summary") && typeof value === "string") descriptions.push(value);
    return value;
  });
  expect(descriptions.length).toBeGreaterThan(300);
  expect(descriptions.filter((description) => tellTalesIn(description).length > 0)).toEqual([]);
});

test.for([
  ["/** Gives the name. */", "Gives"],
  ["/**\n * A stream, which is\n * told of progress.\n */", "is told"],
  ["// Whoever asks first.", "Whoever"],
  ["// It is not needed any more.", "any more"],
  ["/** What `npm pack` takes along. */", "takes along"],
  ["/** Writes a file; gives its size. */", "; gives"],
  ["/** The package that the table\n * tells of. */", "tells of"],
  ["// A body that nobody reads.", "nobody"],
  ["// A stopped run hears so at once.", "hears"],
  ["const a = <p>{/* Another sort of thing. */}</p>;", "sort of"],
])("finds the tell-tale words in %j", ([text, words]) => {
  expect(findTellTales({ path: "x.tsx", text: text ?? "" })).toEqual([`x.tsx:1: ${words}`]);
});

test("accepts strings, code and plain comments", () => {
  const text = `
    // Returns the name of a file that no longer exists.
    const Gives = "Whoever is told of it";
    /** Sorts the list by name. */
    const sorted = list.sort();`;
  expect(findTellTales({ path: "x.ts", text })).toEqual([]);
});
