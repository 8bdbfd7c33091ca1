// Reads the documents of a stop from a debug session: by requests, or as files by commands.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Documents, Queues, Ranks, Read, Report } from "./types";

/** A debug session, as far as it is asked. */
export interface Session {
  customRequest(command: string, given?: unknown): Thenable<unknown>;
}

/** How a session is asked. */
export type Way = "requests" | "exec" | "commands";

/** The types of debuggers that use gdb. */
const known: Readonly<Record<string, Way>> = { mpi: "requests", kdap: "requests", "gdb-dap": "requests", cppdbg: "exec" };

/** Returns how a session of a type is asked, or undefined if it is not. Settings go before. */
export function wayOf(type: string, others: Readonly<Record<string, unknown>>): Way | undefined {
  const way = Object.hasOwn(others, type) ? others[type] : Object.hasOwn(known, type) ? known[type] : undefined;
  return way === "requests" || way === "exec" || way === "commands" ? way : undefined;
}

/** Reads the documents. It does not throw: what fails says so. */
export function readDocuments(session: Session, way: Way): Promise<Documents> {
  return way === "requests" ? byRequests(session) : byCommands(session, way);
}

/** Reads the picture of who waits for whom, as SVG. It does not throw. */
export function readPicture(session: Session, way: Way): Promise<Read<string>> {
  return attempt(async () => {
    if (way === "requests") return ((await session.customRequest("mpiPicture", { scope: "all" })) as { svg: string }).svg;
    return inFolder((written) => written("mpi-deadlock -all -svg"), session, way);
  });
}

async function byRequests(session: Session): Promise<Documents> {
  // One after the other, as gdb does them anyhow.
  const report = await attempt(async () => (await session.customRequest("mpiDeadlock", { scope: "all" })) as Report);
  const queues = await attempt(async () => (await session.customRequest("mpiQueues", { scope: "all", options: { internal: true } })) as Queues);
  const ranks = await attempt(async () => (await session.customRequest("mpiRanks")) as Ranks);
  return { report, queues, ranks };
}

function byCommands(session: Session, way: Way): Promise<Documents> {
  return inFolder(async (written) => {
    const read = <T>(command: string): Promise<Read<T>> => attempt(async () => JSON.parse(await written(`${command} -json`)) as T);
    const report = await read<Report>("mpi-deadlock -all");
    const queues = await read<Queues>("mpi-queues -all -internal");
    const ranks = await read<Ranks>("mpi-ranks");
    return { report, queues, ranks };
  }, session, way);
}

/** Does what needs commands' outputs. They are written to files, since consoles cut or change what is long. */
async function inFolder<T>(work: (written: (command: string) => Promise<string>) => Promise<T>, session: Session, way: Way): Promise<T> {
  const place = way === "exec" ? await anyFrame(session) : {};
  const folder = await mkdtemp(join(tmpdir(), "mpi-queues-"));
  const written = async (command: string): Promise<string> => {
    const file = join(folder, command.split(" ", 1)[0] ?? "");
    const answer = await session.customRequest("evaluate", { expression: `${way === "exec" ? "-exec " : ""}${command} -output ${file}`, context: "repl", ...place });
    try {
      return await readFile(file, "utf8");
    } catch {
      // What the console says instead is the reason.
      const said = (answer as { result?: string } | undefined)?.result?.trim();
      throw new Error(said || `${command} has written no file: does gdb load the file that "mpi-queues gdbinit" prints?`);
    }
  };
  try {
    return await work(written);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns a frame of the process, to be named beside a command. Microsoft's adapter executes a command only in a
 * frame that it was asked for since the last stop, which the editor does later than the view (MIEngine,
 * AD7DebugSession.HandleEvaluateRequestAsync). Where there is none, the command fails, and says why.
 */
async function anyFrame(session: Session): Promise<{ frameId?: number }> {
  try {
    const { threads } = (await session.customRequest("threads")) as { threads: { id: number }[] };
    const { stackFrames } = (await session.customRequest("stackTrace", { threadId: threads[0]?.id, startFrame: 0, levels: 1 })) as { stackFrames: { id: number }[] };
    return stackFrames[0] === undefined ? {} : { frameId: stackFrames[0].id };
  } catch {
    return {};
  }
}

async function attempt<T>(read: () => Promise<T>): Promise<Read<T>> {
  try {
    return { document: await read() };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
