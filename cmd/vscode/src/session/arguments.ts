// What a configuration of the type "mpi" asks for.

export interface AttachArguments {
  kind: "attach";
  pid: number;
  /** Attach to the other ranks of the job too. */
  job: boolean;
  program?: string;
}

export interface CoreArguments {
  kind: "core";
  coreFile: string;
  program?: string;
}

export interface LaunchArguments {
  kind: "launch";
  program: string;
  args: string[];
  ranks: number;
  launcher: string;
  launcherArgs: string[];
  cwd?: string;
  /** Stop all ranks in main. */
  stopAtMain: boolean;
}

export type Arguments = AttachArguments | CoreArguments | LaunchArguments;

/** A sentence for the user: what is wrong, and what to do. */
export class Problem extends Error {
  constructor(
    message: string,
    /** Whether a setting of the extension's can mend it. */
    readonly isOfSettings = false,
  ) {
    super(message);
  }
}

type Given = Readonly<Record<string, unknown>>;

/** Reads the arguments of a configuration, whose process is chosen by now. Throws a Problem. */
export function readArguments(given: Given): Arguments {
  if (given["request"] === "launch") {
    const cwd = maybeText(given, "cwd");
    return {
      kind: "launch",
      program: text(given, "program"),
      args: texts(given, "args"),
      ranks: count(given, "ranks", 2),
      launcher: maybeText(given, "launcher") ?? "mpirun",
      launcherArgs: texts(given, "launcherArgs"),
      stopAtMain: flag(given, "stopAtMain", false),
      ...(cwd === undefined ? {} : { cwd }),
    };
  }
  const program = maybeText(given, "program");
  const named = program === undefined ? {} : { program };
  if (given["coreFile"] !== undefined) return { kind: "core", coreFile: text(given, "coreFile"), ...named };
  return { kind: "attach", pid: count(given, "pid"), job: flag(given, "job", true), ...named };
}

function wrong(name: string, what: string): Problem {
  return new Problem(`"${name}" in launch.json must be ${what}.`);
}

function maybeText(given: Given, name: string): string | undefined {
  const value = given[name];
  if (value === undefined) return undefined;
  // A line break would end gdb's command.
  if (typeof value !== "string" || value === "" || /[\n\r\0]/.test(value)) throw wrong(name, "a text of one line");
  return value;
}

function text(given: Given, name: string): string {
  const value = maybeText(given, name);
  if (value === undefined) throw wrong(name, "a text of one line");
  return value;
}

function texts(given: Given, name: string): string[] {
  const value = given[name] ?? [];
  if (!Array.isArray(value) || !value.every((v) => typeof v === "string" && !/[\n\r\0]/.test(v))) throw wrong(name, "a list of texts of one line");
  return value as string[];
}

function count(given: Given, name: string, otherwise?: number): number {
  const value = given[name] ?? otherwise;
  // Variables of launch.json are put in as texts.
  const number = typeof value === "string" && /^\d+$/.test(value.trim()) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) throw wrong(name, "a number from 1 on");
  return number;
}

function flag(given: Given, name: string, otherwise: boolean): boolean {
  const value = given[name] ?? otherwise;
  if (typeof value !== "boolean") throw wrong(name, "true or false");
  return value;
}
