import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findProgram, type Machine, type Output, realMachine } from "../src/tools/machine";
import { findMpiQueues, findTools } from "../src/tools/tools";

const none = { gdb: "", program: "" };

function machine(programs: string[], output?: Partial<Output>, environment: Record<string, string> = { PATH: "/usr/bin:bin:/opt/bin" }): Machine {
  return {
    environment,
    home: "/home/me",
    isProgram: (path) => Promise.resolve(programs.includes(path)),
    run: () => Promise.resolve({ status: 0, stdout: "", stderr: "", ...output }),
  };
}

describe("programs", () => {
  it("are found in PATH, in order, and never in the working directory", async () => {
    expect(await findProgram(machine(["/opt/bin/gdb", "bin/gdb"]), "gdb")).toBe("/opt/bin/gdb");
    expect(await findProgram(machine(["bin/gdb"]), "gdb")).toBeUndefined();
    expect(await findProgram(machine(["/home/me/gdb"]), "~/gdb")).toBe("/home/me/gdb");
  });

  const folder = mkdtempSync(join(tmpdir(), "mpi-queues-test-"));
  afterAll(() => { rmSync(folder, { recursive: true }); });

  it("are files that can be executed, and are run", async () => {
    const real = realMachine("/");
    mkdirSync(join(folder, "a"));
    writeFileSync(join(folder, "b"), "#!/bin/sh\ncat\necho out $1\necho err >&2\nexit 3\n");
    expect(await Promise.all(["a", "b", "c"].map((name) => real.isProgram(join(folder, name))))).toEqual([false, false, false]);
    chmodSync(join(folder, "b"), 0o755);
    expect(await real.isProgram(join(folder, "b"))).toBe(true);
    expect(await real.run(join(folder, "b"), ["x y"])).toEqual({ status: 3, stdout: "out x y\n", stderr: "err\n" });
    expect(await real.run(join(folder, "c"), [])).toMatchObject({ status: null });
  });
});

describe("gdb", () => {
  /** A machine that has mpi-queues, and a gdb that says something. */
  const says = (output: Partial<Output>): Machine => {
    const here = machine(["/usr/bin/gdb", "/usr/bin/mpi-queues"], output);
    return { ...here, run: (program, args) => (program.endsWith("gdb") ? here.run(program, args) : Promise.resolve({ status: 0, stdout: "/data/gdbinit\n", stderr: "" })) };
  };
  const has = (answer: unknown): Machine => says({ stdout: `warning\nmpi-queues: ${JSON.stringify(answer)}\n` });
  const noGdb = machine(["/usr/bin/mpi-queues"], { stdout: "/data/gdbinit" });

  it("is taken if it serves DAP, and all that mpi-queues adds", async () => {
    expect(await findTools(has({ version: "16.3", dap: true, lacks: [] }), none)).toEqual({ gdb: "/usr/bin/gdb", gdbinit: "/data/gdbinit" });
  });

  it.each([
    [noGdb, none, "not in PATH: install gdb 15 or newer, or name one with the setting mpi-queues.gdb"],
    [noGdb, { gdb: "/opt/gdb", program: "" }, "The setting mpi-queues.gdb names /opt/gdb"],
    [has({ version: "13.1", dap: false, lacks: null }), none, "/usr/bin/gdb is gdb 13.1, whose Debug Adapter Protocol lacks"],
    [has({ version: "16.3", dap: true, lacks: ["mpiCore", "mpiExecute"] }), none, "/usr/bin/mpi-queues is older than this extension, and lacks mpiCore, mpiExecute: install it anew by `go install"],
    [says({ stderr: "Python scripting is not supported in this copy of GDB.\n" }), none, "has no Python"],
    [says({ status: null, stderr: "exec format error" }), none, "can't be started: exec format error"],
  ])("or mpi-queues is said to be missing or too old", async (where, settings, text) => {
    await expect(findTools(where, settings)).rejects.toMatchObject({ message: expect.stringContaining(text) as string, isOfSettings: true });
  });
});

describe("mpi-queues", () => {
  it("is found where Go installs programs", async () => {
    expect(await findMpiQueues(machine(["/home/me/go/bin/mpi-queues"]), none)).toBe("/home/me/go/bin/mpi-queues");
    expect(await findMpiQueues(machine(["/b/bin/mpi-queues"], {}, { GOPATH: "/a:/b" }), none)).toBe("/b/bin/mpi-queues");
    expect(await findMpiQueues(machine(["/c/mpi-queues"], {}, { GOBIN: "/c" }), none)).toBe("/c/mpi-queues");
  });

  it("is said to be missing", async () => {
    await expect(findMpiQueues(machine([]), none)).rejects.toThrow("go install");
    await expect(findMpiQueues(machine([]), { gdb: "", program: "/x" })).rejects.toThrow("The setting mpi-queues.program names /x");
    await expect(findTools(machine(["/x"], { status: 1, stderr: "no space" }), { gdb: "", program: "/x" })).rejects.toThrow("/x gdbinit fails: no space");
  });
});
