import { AddFiles } from "../queue/add-files.tsx";
import { FirstIcon } from "../ui/first-icon.tsx";
import type { FirstIconName } from "../ui/first-signs.ts";
import { JOBS, type Job, LIMITS } from "./jobs.ts";
import * as strings from "./strings.ts";
import "./home.css";

/** The page without files: a promise, the place for files, and the jobs. */
export function Home({ job }: { job: Job | null }) {
  return (
    <div class="home">
      <h1>{job ? job.heading : strings.promise}</h1>
      <p class="lead">{job ? job.description : strings.lead}</p>
      <AddFiles />
      <JobLinks current={job} title={strings.jobs} hides />
      <Proofs />
    </div>
  );
}

/** Links to all jobs. The size limits share a card, in which each is a chip. */
export function JobLinks({
  current,
  title,
  hides = false,
}: {
  current: Job | null;
  title: string;
  /** Whether only screen readers get the title. */
  hides?: boolean;
}) {
  const at = (job: Job) => (job.path === current?.path ? "page" : undefined);
  const [first, ...rest] = JOBS.filter(({ path }) => !LIMITS.has(path));
  const link = (job: Job) => (
    <li key={job.path}>
      <a class="job" href={job.path} aria-current={at(job)}>
        <FirstIcon name={job.icon} size={22} />
        <span>
          <strong>{job.name}</strong> <small>{job.note}</small>
        </span>
      </a>
    </li>
  );
  return (
    <nav class="jobs" aria-label={title}>
      <h2 class={hides ? "visually-hidden" : ""}>{title}</h2>
      <ul class="plain">
        {first && link(first)}
        <li class="wide">
          <div class="job">
            <FirstIcon name="limit" size={22} />
            <span>
              <strong>{strings.limits}</strong> <small>{strings.limitsNote}</small>
            </span>
            <div class="chips">
              {JOBS.filter(({ path }) => LIMITS.has(path)).map((job) => (
                <a key={job.path} href={job.path} aria-current={at(job)}>
                  {job.name} <small>{job.note}</small>
                </a>
              ))}
            </div>
          </div>
        </li>
        {rest.map(link)}
      </ul>
    </nav>
  );
}

const PROOFS = [
  ["shield", "private"],
  ["offline", "offline"],
  ["device", "service"],
] as const satisfies readonly (readonly [FirstIconName, keyof typeof strings.proofs])[];

function Proofs() {
  return (
    <ul class="proofs plain">
      {PROOFS.map(([icon, name]) => {
        const [title, words] = strings.proofs[name];
        return (
          <li key={name}>
            <FirstIcon name={icon} />
            <p>
              <strong>{title}</strong>
              <span class="soft">
                {words} {name === "service" && <a href="/console">{strings.openConsole}</a>}
              </span>
            </p>
          </li>
        );
      })}
    </ul>
  );
}
