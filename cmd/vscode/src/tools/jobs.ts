// The running jobs, as `mpi-queues jobs --json' lists them.
import { Problem } from "../session/arguments";
import { quoted } from "../session/command";
import type { Machine } from "./machine";

export interface RunningRank {
  rank: number | null;
  pid: number;
  /** Empty for this machine. */
  host: string;
  executable: string;
  exited: boolean;
  /** Why it is not to be attached to, as a clause, or empty. */
  obstacle: string;
}

export interface Job {
  /** The launcher's process id, 0 where there is none. */
  launcher: number;
  /** The launcher's program. */
  name: string;
  /** The words of its command line. */
  command: string[];
  size: number | null;
  ranks: RunningRank[];
}

/** Lists the running jobs. Throws a Problem. */
export async function listJobs(machine: Machine, program: string): Promise<Job[]> {
  const { stdout, stderr, status } = await machine.run(program, ["jobs", "--json"]);
  if (status !== 0) throw new Problem(`The running jobs are not known, since ${program} jobs fails: ${stderr.trim()}`);
  try {
    const jobs: unknown = JSON.parse(stdout);
    if (Array.isArray(jobs)) return jobs as Job[];
  } catch {
    // It is said below.
  }
  throw new Problem(`The running jobs are not known: ${program} jobs --json does not write a list. It may be older than this extension.`);
}

/** One line of the list that the user picks from. */
export interface Choice {
  /** The name of one of the editor's icons. */
  icon: string;
  label: string;
  description: string;
  detail: string;
  pid: number;
}

/** Returns what can be picked: each job with its ranks, the first of which stands for the job. */
export function choicesOf(jobs: readonly Job[]): Choice[] {
  return jobs.flatMap((job) => {
    const ranks = attachable(job);
    const [first] = ranks;
    if (first === undefined) return [];
    const here = job.size !== null && job.size !== ranks.length ? `${ranks.length} of ${job.size} ranks here` : `${ranks.length} ${ranks.length === 1 ? "rank" : "ranks"}`;
    const programs = [...new Set(ranks.map((rank) => baseName(rank.executable)))].join(", ");
    const launcher = job.launcher > 0 ? `${job.name} ${job.launcher}` : "without a launcher";
    return [
      { icon: "debug-alt", label: programs, description: `${here} · ${launcher}`, detail: job.command.map(quoted).join(" "), pid: first.pid },
      ...ranks.map((rank) => ({
        icon: "dash",
        label: rank.rank === null ? `process ${rank.pid}` : `rank ${rank.rank}`,
        description: `${baseName(rank.executable)} · process ${rank.pid}`,
        detail: "",
        pid: rank.pid,
      })),
    ];
  });
}

/** Says why nothing can be picked. */
export function noChoice(jobs: readonly Job[]): Problem {
  const why = obstacleOf(jobs.flatMap(({ ranks }) => ranks));
  return new Problem(why === undefined ? "No MPI job runs on this machine." : `No rank that runs on this machine can be attached to: ${why}.`);
}

/** Returns the process to begin with, where a launcher was named: its first rank. */
export function rankOf(jobs: readonly Job[], pid: number): number {
  const job = jobs.find(({ launcher }) => launcher === pid);
  if (job === undefined) return pid;
  const [first] = attachable(job);
  if (first !== undefined) return first.pid;
  const why = obstacleOf(job.ranks);
  throw new Problem(`Process ${pid} is the launcher ${job.name}, which has no rank on this machine that could be attached to${why === undefined ? "" : `: ${why}`}.`);
}

/** Returns why one of the ranks here is not attached to, undefined where nothing is known to be against it. */
function obstacleOf(ranks: readonly RunningRank[]): string | undefined {
  return ranks.find(({ host, obstacle }) => host === "" && obstacle !== "")?.obstacle;
}

function attachable({ ranks }: Job): RunningRank[] {
  return ranks.filter(({ host, exited, obstacle }) => host === "" && !exited && obstacle === "");
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
