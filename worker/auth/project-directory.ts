import type { Sql } from "../sql.ts";

/** The names of all projects that have had keys, for operators. */
export interface ProjectDirectory {
  add(project: string): void;
  list(): string[];
}

/** Name of the object with the directory; no locator of a project is like it. */
export const DIRECTORY = "projects";

/** Creates the directory; only the first addition stores anything. */
export function createProjectDirectory(sql: Sql): ProjectDirectory {
  const create = "CREATE TABLE IF NOT EXISTS project (name TEXT PRIMARY KEY) WITHOUT ROWID";
  const made = () => [...sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'project'")].length > 0;
  return {
    add(project) {
      sql.exec(create);
      sql.exec("INSERT OR IGNORE INTO project VALUES (?)", project);
    },
    list: () =>
      made() ? [...sql.exec<{ name: string }>("SELECT name FROM project")].map(({ name }) => name) : [],
  };
}
