// What the extension asks of the machine that it runs on.
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

export interface Output {
  /** The exit status, or null of a program that could not be started. */
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Machine {
  environment: Readonly<Record<string, string | undefined>>;
  home: string;
  isProgram(path: string): Promise<boolean>;
  run(program: string, args: readonly string[]): Promise<Output>;
}

/** What hangs is given up, which no question takes so long to answer. */
const patienceMilliseconds = 60_000;
const mostBytes = 256 << 20;

export function realMachine(home: string): Machine {
  return {
    environment: process.env,
    home,
    isProgram: async (path) => {
      try {
        await access(path, constants.X_OK);
        return (await stat(path)).isFile();
      } catch {
        return false;
      }
    },
    run: (program, args) =>
      new Promise((resolve) => {
        const child = execFile(program, args, { timeout: patienceMilliseconds, maxBuffer: mostBytes }, (error, stdout, stderr) => {
          const code = error === null ? 0 : error.code;
          resolve({ status: typeof code === "number" ? code : null, stdout, stderr: stderr || (error?.message ?? "") });
        });
        child.stdin?.end();
      }),
  };
}

/**
 * Returns the path of a program: as a setting names it, or from PATH and further folders.
 * It is undefined if there is none.
 */
export async function findProgram(machine: Machine, name: string, folders: readonly string[] = []): Promise<string | undefined> {
  const named = name.startsWith("~/") ? join(machine.home, name.slice(2)) : name;
  if (named.includes("/")) return (await machine.isProgram(named)) ? named : undefined;
  // Never the working directory, where anybody may have put something.
  const all = [...(machine.environment["PATH"] ?? "").split(delimiter), ...folders].filter(isAbsolute);
  for (const folder of all) {
    const path = join(folder, named);
    if (await machine.isProgram(path)) return path;
  }
  return undefined;
}
