// The extension as its users see it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "./editor.mjs";
import { enter, serve, settings } from "./place.mjs";
import { hung, killed } from "./scenes/hung.mjs";
import { core, launched, link, other } from "./scenes/others.mjs";
import { count, until } from "./steps.mjs";

const [code, suite, work, ...wanted] = process.argv.slice(2);
const folder = join(work, "folder");
const source = readFileSync(new URL("ring.c", import.meta.url), "utf8").split("\n");
const at = (text) => source.findIndex((line) => line.includes(text)) + 1;
const line = { post: at("MPI_Irecv"), wait: at("MPI_Recv") };

const place = await enter(suite, work);
place.shell("mpicc.openmpi -g -o ring ring.c");
const gdbinit = place.shell(`${work}/mpi-queues gdbinit`).trim();

// An editor that takes the focus at a stop would take what is being typed, too.
settings(work, "User", { "debug.focusEditorOnBreak": false, "workbench.startupEditor": "none", "workbench.colorTheme": "Default Dark Modern", "git.enabled": false, "remote.autoForwardPorts": false });
settings(work, "Machine", { "mpi-queues.gdb": place.gdb, "mpi-queues.program": place.program, "mpi-queues.otherDebuggers": { "other-gdb": "commands" } });

/** Writes what can be started without the list of jobs. pid is a process for another debugger. */
function configure(pid) {
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  const program = join(folder, "ring");
  const quiet = ["-q", "-iex", "set confirm off"], knowing = ["-ex", `source ${gdbinit}`];
  writeFileSync(join(folder, ".vscode", "launch.json"), JSON.stringify({
    version: "0.2.0",
    configurations: [
      { name: "launch", type: "mpi", request: "launch", program, args: ["3", "launched"], ranks: 3, launcher: "mpirun.openmpi", launcherArgs: ["--oversubscribe"], cwd: folder },
      { name: "core", type: "mpi", request: "attach", program, coreFile: join(folder, "core") },
      { name: "link", type: "mpi", request: "attach", program: join(folder, "link"), coreFile: join(folder, "core-link") },
      { name: "other", type: "other-gdb", request: "attach", pid, gdb: place.gdb, args: [...quiet, "-i", "dap", ...knowing] },
      { name: "by MI", type: "cppdbg", request: "attach", processId: pid, miDebuggerPath: place.gdb, args: [...quiet, "-i", "mi", ...knowing] },
    ],
  }));
}
configure(1);

const scenes = {
  async hung(editor) {
    await hung(editor, place, work, line);
    await killed(editor, place);
    // For the rest a small job will do.
    for (const { pid, words } of place.processes()) {
      if (words.startsWith("./ring ")) place.shell(`kill -9 ${pid} 2>/dev/null || :`);
    }
  },
  launched: (editor) => launched(editor, place, work, line),
  async core(editor) {
    await dump("ring", "core");
    await core(editor, work, line);
  },
  async link(editor) {
    // The line at which ranks wait is in a file whose name is a link, as far as the editor is concerned.
    place.shell(`sed 's/^  MPI_Recv/#line 7 "[a](command:workbench.action.showCommands)"\\n&/' ring.c >link.c && mpicc.openmpi -g -o link link.c`);
    await dump("link", "core-link");
    await link(editor);
  },
  async other(editor) {
    configure(await smallJob());
    await other(editor, work, "other");
    await other(editor, work, "by MI");
  },
};

/** Starts a small job of a program, if there is none yet, and returns the process id of one of its ranks. */
async function smallJob(program = "ring") {
  const ready = () => [0, 1, 2].every((number) => existsSync(join(folder, `ready-${program}-${number}`)));
  if (!ready()) place.background(`mpirun.openmpi --oversubscribe -n 3 ./${program} 3 ${program}`);
  await until("for the ranks", ready);
  return place.processes().find(({ words }) => words === `./${program} 3 ${program}`).pid;
}

/** Writes a core file of a rank of a small job. */
async function dump(program, file) {
  place.shell(`gdb -nx -q -batch -p ${await smallJob(program)} -ex 'generate-core-file ${file}' >/dev/null 2>&1`);
}

const editor = await open(code, await serve(code, work), join(work, "pictures"));
for (const name of wanted.length > 0 ? wanted : Object.keys(scenes)) await scenes[name](editor);
await editor.close();
console.log(`${count()} passed, 0 failed`);
process.exit(0);
