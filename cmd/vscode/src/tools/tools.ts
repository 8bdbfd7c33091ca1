// Finds gdb and mpi-queues, and says what to do where one is missing. It installs nothing.
import { delimiter, join } from "node:path";
import { Problem } from "../session/arguments";
import { findProgram, type Machine } from "./machine";

/** The settings that name programs; empty where the user has none. */
export interface Settings {
  gdb: string;
  program: string;
}

export interface Gdb {
  path: string;
  version: string;
  /** Whether its DAP opens core files; null if that can't be told. */
  hasCoreFiles: boolean | null;
}

/** What gdb says of itself. Whether it has a thing decides, not its version. */
const question = `import json
answer = {"version": gdb.VERSION, "dap": False, "core": None}
try:
    import inspect
    from gdb.dap import launch
    from gdb.dap.server import request
    answer["dap"] = "expect_stopped" in inspect.signature(request).parameters
    answer["core"] = "coreFile" in inspect.getsource(launch)
except (ImportError, OSError):
    pass
print("mpi-queues: " + json.dumps(answer))`;

/** Returns the gdb to debug with. Throws a Problem if there is none that can. */
export async function findGdb(machine: Machine, settings: Settings): Promise<Gdb> {
  const path = await findProgram(machine, settings.gdb || "gdb");
  if (path === undefined) {
    throw new Problem(
      settings.gdb
        ? `The setting mpi-queues.gdb names ${settings.gdb}, which is no program here.`
        : "gdb is not in PATH: install gdb 15 or newer, or name one with the setting mpi-queues.gdb.",
      true,
    );
  }
  const { stdout, stderr, status } = await machine.run(path, ["-nx", "-batch", "-ex", `python exec(${JSON.stringify(question)})`]);
  const line = /^mpi-queues: (\{.*\})$/m.exec(stdout)?.[1];
  if (line === undefined) {
    const last = stderr.trim().split("\n").at(-1) ?? "";
    throw new Problem(
      status === null
        ? `${path} can't be started: ${last}. The setting mpi-queues.gdb names another gdb.`
        : `${path} has no Python, which it needs (${last || "it says nothing"}): name a gdb that was built with Python with the setting mpi-queues.gdb.`,
      true,
    );
  }
  const answer = JSON.parse(line) as { version: string; dap: boolean; core: boolean | null };
  if (!answer.dap) {
    throw new Problem(
      `${path} is gdb ${answer.version}, whose Debug Adapter Protocol lacks what is needed here, or which has none: name gdb 15 or newer with the setting mpi-queues.gdb. ` +
        "With this one, mpi-queues works in a terminal, and beside Microsoft's C/C++ extension.",
      true,
    );
  }
  return { path, version: answer.version, hasCoreFiles: answer.core };
}

/** Returns the path of mpi-queues. Throws a Problem if there is none. */
export async function findMpiQueues(machine: Machine, settings: Settings): Promise<string> {
  const { GOBIN, GOPATH } = machine.environment;
  const folders = [GOBIN ?? "", ...(GOPATH ?? "").split(delimiter).map((folder) => (folder ? join(folder, "bin") : "")), join(machine.home, "go", "bin")];
  const path = await findProgram(machine, settings.program || "mpi-queues", folders);
  if (path !== undefined) return path;
  throw new Problem(
    settings.program
      ? `The setting mpi-queues.program names ${settings.program}, which is no program here.`
      : "mpi-queues is neither in PATH nor where Go installs programs: install it by `go install github.com/mpi-queues/mpi-queues/cmd/mpi-queues@latest`, or name it with the setting mpi-queues.program.",
    true,
  );
}

/** Returns the file that gdb has to source. Throws a Problem. */
export async function findGdbinit(machine: Machine, program: string): Promise<string> {
  const { stdout, stderr, status } = await machine.run(program, ["gdbinit"]);
  const path = stdout.trim();
  if (status !== 0 || path === "") throw new Problem(`${program} gdbinit fails: ${stderr.trim()}`);
  return path;
}
