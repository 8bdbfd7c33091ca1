// Documents of real jobs: what this checkout's program reads from the recordings that its own tests use.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Documents, Queues, Report } from "../src/documents/types";

const root = join(__dirname, "..", "..", "..");

/** Returns the queues of some processes of a job, which were recorded in one release of an MPI. */
export function recordedQueues(release: string, ...names: string[]): Queues {
  const processes = names.flatMap((name) => {
    const file = join(root, "tests", "recordings", release, `${name}.mpiq`);
    const text = execFileSync(join(__dirname, "..", "build", "mpi-queues"), ["replay", "--json", "--internal", file], { encoding: "utf8" });
    return (JSON.parse(text) as Queues).processes;
  });
  // In a job each process has its own number.
  return { schema: 1, processes: processes.map((process, i) => ({ ...process, inferior: i + 1 })) };
}

/** Returns a report that the tests of the report have. */
export function recordedReport(name: string): Report {
  return JSON.parse(readFileSync(join(root, "mqs", "render", "testdata", "report", `${name}.json`), "utf8")) as Report;
}

export function documentsOf(queues: Queues, report?: Report): Documents {
  return { queues: { document: queues }, report: report ? { document: report } : { failure: "no report" }, ranks: { failure: "no ranks" } };
}
