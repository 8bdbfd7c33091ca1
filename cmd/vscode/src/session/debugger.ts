// The debugger type "mpi": its configurations, and the adapter that they are debugged by.
import * as vscode from "vscode";
import { choicesOf, listJobs, noChoice, rankOf } from "../tools/jobs";
import type { Machine } from "../tools/machine";
import { findMpiQueues, findTools, type Settings } from "../tools/tools";
import { pick, showError, shownError } from "../view/notice";
import { Problem, readArguments } from "./arguments";
import { GdbSession } from "./gdb";
import type { Message } from "./messages";

function settings(folder: vscode.WorkspaceFolder | undefined): Settings {
  const given = vscode.workspace.getConfiguration("mpi-queues", folder);
  return { gdb: given.get("gdb", ""), program: given.get("program", "") };
}

const attachToJob: vscode.DebugConfiguration = { name: "MPI: attach to a job", type: "mpi", request: "attach" };

export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(private readonly machine: Machine) {}

  provideDebugConfigurations(): vscode.DebugConfiguration[] {
    return [{ ...attachToJob }];
  }

  resolveDebugConfiguration(_folder: vscode.WorkspaceFolder | undefined, config: vscode.DebugConfiguration): vscode.DebugConfiguration {
    // Without a launch.json there is nothing in it.
    return config.type ? config : { ...attachToJob };
  }

  /** Chooses the process. Undefined ends the start, null would open launch.json. */
  async resolveDebugConfigurationWithSubstitutedVariables(folder: vscode.WorkspaceFolder | undefined, config: vscode.DebugConfiguration): Promise<vscode.DebugConfiguration | undefined> {
    try {
      const isAttach = config.request === "attach" && config["coreFile"] === undefined;
      const complete = isAttach ? await this.withProcess(folder, config) : config;
      if (complete !== undefined) readArguments(complete);
      return complete;
    } catch (error) {
      await complain(error);
      return undefined;
    }
  }

  private async withProcess(folder: vscode.WorkspaceFolder | undefined, config: vscode.DebugConfiguration): Promise<vscode.DebugConfiguration | undefined> {
    const program = await findMpiQueues(this.machine, settings(folder));
    if (config["pid"] !== undefined) {
      const given = readArguments(config);
      if (given.kind !== "attach") return config;
      return { ...config, pid: rankOf(await this.jobsIfKnown(program), given.pid) };
    }
    const jobs = await listJobs(this.machine, program);
    const choices = choicesOf(jobs);
    if (choices.length === 0) throw noChoice(jobs);
    const chosen = await pick(choices, "Attach to an MPI job", "A job, or the rank to begin with");
    return chosen && { ...config, pid: chosen.pid };
  }

  /** A process whose job is not known is attached to as it is. */
  private async jobsIfKnown(program: string): ReturnType<typeof listJobs> {
    try {
      return await listJobs(this.machine, program);
    } catch {
      return [];
    }
  }
}

export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly machine: Machine) {}

  async createDebugAdapterDescriptor(session: vscode.DebugSession): Promise<vscode.DebugAdapterDescriptor> {
    const folder = session.workspaceFolder;
    const given = readArguments(session.configuration);
    const { gdb, gdbinit } = await findTools(this.machine, settings(folder)).catch((error: unknown) => { throw shownError(error); });
    const messages = new vscode.EventEmitter<vscode.DebugProtocolMessage>();
    const running = new GdbSession({ path: gdb, gdbinit, cwd: folder?.uri.fsPath }, given, (message) => { messages.fire(message); });
    return new vscode.DebugAdapterInlineImplementation({
      onDidSendMessage: messages.event,
      handleMessage: (message) => { running.handle(message as Message); },
      dispose: () => { running.end(); },
    });
  }
}

async function complain(error: unknown): Promise<void> {
  const open = "Open Settings";
  const chosen = await showError(error, ...(error instanceof Problem && error.isOfSettings ? [open] : []));
  if (chosen === open) await vscode.commands.executeCommand("workbench.action.openSettings", "mpi-queues");
}
