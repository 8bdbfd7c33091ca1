// gdb's commands, as they are typed.
import type { LaunchArguments } from "./arguments";

/** Quotes an argument for the shell that starts a job. */
export function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** Returns the command that starts a job. Launchers take the number of ranks after -n. */
export function runCommand(given: LaunchArguments): string {
  const words = [given.launcher, ...given.launcherArgs, "-n", String(given.ranks), given.program, ...given.args];
  return ["mpi-run", ...(given.stopAtMain ? ["-start"] : []), ...words.map(quoted)].join(" ");
}

/** Returns the command that has gdb read a program's symbols. */
export function fileCommand(program: string): string {
  return `file ${program.replaceAll(/[\s\\'"]/g, "\\$&")}`;
}
