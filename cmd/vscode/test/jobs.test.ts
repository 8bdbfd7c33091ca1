import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { choicesOf, type Job, listJobs, noChoice, rankOf, type RunningRank } from "../src/tools/jobs";
import { type Machine, realMachine } from "../src/tools/machine";

const rank = (number: number | null, pid: number, more: Partial<RunningRank> = {}): RunningRank => ({ rank: number, pid, host: "", executable: "/a/ring", exited: false, obstacle: "", ...more });
const jobs: Job[] = [
  { launcher: 10, name: "mpirun", command: ["mpirun", "-n", "3", "./my ring"], size: 3, ranks: [rank(2, 9, { host: "far" }), rank(0, 11), rank(1, 12)] },
  { launcher: 0, name: "", command: [], size: null, ranks: [rank(null, 20, { executable: "/a/one" }), rank(5, 21, { exited: true })] },
  { launcher: 30, name: "srun", command: ["srun"], size: 1, ranks: [rank(0, 31, { obstacle: "another debugger has it" })] },
];

function machine(stdout: string, status = 0, stderr = ""): Machine {
  return { environment: {}, home: "/", isProgram: () => Promise.resolve(true), run: (_, args) => Promise.resolve(args.join(" ") === "jobs --json" ? { status, stdout, stderr } : { status: 1, stdout: "", stderr: "" }) };
}

describe("jobs", () => {
  it("are listed", async () => {
    expect(await listJobs(machine(JSON.stringify(jobs)), "p")).toEqual(jobs);
    await expect(listJobs(machine("", 1, "no /proc"), "p")).rejects.toThrow("no /proc");
    await expect(listJobs(machine("usage"), "p")).rejects.toThrow("older");
    await expect(listJobs(machine("{}"), "p")).rejects.toThrow("older");
  });

  it("are listed by this checkout's program", async () => {
    expect(await listJobs(realMachine("/"), join(__dirname, "..", "build", "mpi-queues"))).toBeInstanceOf(Array);
  });

  it("are picked as a whole or by a rank", () => {
    expect(choicesOf(jobs)).toMatchObject([
      { icon: "debug-alt", label: "ring", description: "2 of 3 ranks here · mpirun 10", detail: "mpirun -n 3 './my ring'", pid: 11 },
      { icon: "dash", label: "rank 0", pid: 11 },
      { icon: "dash", label: "rank 1", description: "ring · process 12", pid: 12 },
      { icon: "debug-alt", label: "one", description: "1 rank · without a launcher", pid: 20 },
      { icon: "dash", label: "process 20", pid: 20 },
    ]);
  });

  it("that can't be picked are said to be", () => {
    expect(noChoice([]).message).toBe("No MPI job runs on this machine.");
    expect(noChoice(jobs.slice(2)).message).toBe("No rank that runs on this machine can be attached to: another debugger has it.");
  });

  it("are named by their launcher", () => {
    expect([10, 12, 99].map((pid) => rankOf(jobs, pid))).toEqual([11, 12, 99]);
    expect(() => rankOf(jobs, 30)).toThrow("no rank on this machine that could be attached to: another debugger has it.");
  });
});
