// Finds gdb and mpi-queues, and says what to do where one is missing. It installs nothing.
import { delimiter, join } from "node:path";
import { Problem } from "../session/arguments";
import { findProgram, type Machine } from "./machine";

/** The settings that name programs; empty where the user has none. */
export interface Settings {
  gdb: string;
  program: string;
}

/** The programs that debug. */
export interface Tools {
  gdb: string;
  /** The file that makes gdb know MPI. */
  gdbinit: string;
}

/** What gdb says of itself, before it sources mpi-queues' file. Whether it has a thing decides, not its version. */
const question = `import inspect, json
answer = {"version": gdb.VERSION, "dap": False, "lacks": None}
try:
    from gdb.dap import server
    answer["dap"] = "expect_stopped" in inspect.signature(server.request).parameters
except ImportError:
    pass`;

/** The requests of mpi-queues' own that are made here. */
const requests = ["mpiQueues", "mpiDeadlock", "mpiPicture", "mpiRanks", "mpiSelect", "mpiCore", "mpiResume", "mpiExecute"];

/** What gdb says after that. */
const furtherQuestion = `if answer["dap"]:
    answer["lacks"] = [name for name in ${JSON.stringify(requests)} if name not in server._commands]
print("mpi-queues: " + json.dumps(answer))`;

const install = "`go install github.com/mpi-queues/mpi-queues/cmd/mpi-queues@latest`";

/** Finds what debugs. Throws a Problem if anything is missing or too old. */
export async function findTools(machine: Machine, settings: Settings): Promise<Tools> {
  const program = await findMpiQueues(machine, settings);
  const gdbinit = await findGdbinit(machine, program);
  return { gdb: await findGdb(machine, settings, gdbinit, program), gdbinit };
}

async function findGdb(machine: Machine, settings: Settings, gdbinit: string, program: string): Promise<string> {
  const path = await findProgram(machine, settings.gdb || "gdb");
  if (path === undefined) {
    throw new Problem(
      settings.gdb
        ? `The setting mpi-queues.gdb names ${settings.gdb}, which is no program here.`
        : "gdb is not in PATH: install gdb 15 or newer, or name one with the setting mpi-queues.gdb.",
      true,
    );
  }
  const python = (text: string): string[] => ["-ex", `python exec(${JSON.stringify(text)})`];
  const { stdout, stderr, status } = await machine.run(path, ["-nx", "-batch", ...python(question), "-ex", `source ${gdbinit}`, ...python(furtherQuestion)]);
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
  const answer = JSON.parse(line) as { version: string; dap: boolean; lacks: string[] | null };
  if (!answer.dap) {
    throw new Problem(
      `${path} is gdb ${answer.version}, whose Debug Adapter Protocol lacks what is needed here, or which has none: name gdb 15 or newer with the setting mpi-queues.gdb. ` +
        "With this one, mpi-queues works in a terminal, and beside Microsoft's C/C++ extension.",
      true,
    );
  }
  if (answer.lacks === null || answer.lacks.length > 0) {
    throw new Problem(`${program} is older than this extension, and lacks ${answer.lacks?.join(", ") ?? "requests"}: install it anew by ${install}, or name another one with the setting mpi-queues.program.`, true);
  }
  return path;
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
      : "mpi-queues is neither in PATH nor where Go installs programs: install it by " + install + ", or name it with the setting mpi-queues.program.",
    true,
  );
}

/** Returns the file that gdb has to source. Throws a Problem. */
async function findGdbinit(machine: Machine, program: string): Promise<string> {
  const { stdout, stderr, status } = await machine.run(program, ["gdbinit"]);
  const path = stdout.trim();
  if (status !== 0 || path === "") throw new Problem(`${program} gdbinit fails: ${stderr.trim()}`);
  return path;
}
