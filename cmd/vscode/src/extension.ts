// The extension's beginning: what it registers with the editor.
import { homedir } from "node:os";
import * as vscode from "vscode";
import { wayOf } from "./documents/source";
import type { Wish } from "./model/state";
import { isSelection, selectRequest } from "./session/conversation";
import { AdapterFactory, ConfigurationProvider } from "./session/debugger";
import { realMachine } from "./tools/machine";
import { Follower } from "./view/follower";
import { pictureForm, queuesForm } from "./view/html";
import { showError, showInformation } from "./view/notice";
import { openLine, rankIn } from "./view/place";
import { Tab } from "./view/tab";
import { View } from "./view/view";

export function activate(context: vscode.ExtensionContext): void {
  const machine = realMachine(homedir());
  const follower = new Follower(() => {
    view.draw();
    queues.draw();
    picture.draw();
    if (picture.isVisible) void follower.draw();
  });
  const wanted = (wish: Wish): void => void grant(wish, follower);
  const view: View = new View(context.extensionUri, () => follower.state(), wanted);
  const queues = new Tab(context.extensionUri, "mpi-queues.queues", queuesForm, () => follower.state(), wanted);
  const picture = new Tab(context.extensionUri, "mpi-queues.picture", pictureForm, () => follower.pictureState(), wanted, () => void follower.draw());
  const configurations = new ConfigurationProvider(machine);
  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider("mpi-queues.view", view),
    vscode.debug.registerDebugConfigurationProvider("mpi", configurations),
    vscode.debug.registerDebugConfigurationProvider("mpi", configurations, vscode.DebugConfigurationProviderTriggerKind.Dynamic),
    vscode.debug.registerDebugAdapterDescriptorFactory("mpi", new AdapterFactory(machine)),
    vscode.debug.registerDebugAdapterTrackerFactory("*", {
      createDebugAdapterTracker: (session) => {
        const way = wayOf(session.type, vscode.workspace.getConfiguration("mpi-queues").get<Record<string, unknown>>("otherDebuggers", {}));
        if (way === undefined) return undefined;
        follower.began(session, way);
        // Beside other debuggers the user opens the view.
        if (session.type === "mpi") void vscode.commands.executeCommand("mpi-queues.view.focus");
        return {
          onDidSendMessage: (message: { type?: string; event?: string; body?: unknown }) => {
            if (message.type !== "event" || message.event === undefined) return;
            if (!isSelection(message.body)) follower.heard(session.id, message.event);
          },
        };
      },
    }),
    vscode.debug.onDidTerminateDebugSession((session) => { follower.ended(session.id); }),
    vscode.debug.onDidChangeActiveDebugSession((session) => { follower.activated(session?.id); }),
    vscode.commands.registerCommand("mpi-queues.attach", attach),
    vscode.commands.registerCommand("mpi-queues.refresh", () => follower.refresh()),
    vscode.commands.registerCommand("mpi-queues.open", () => { queues.open(); }),
    vscode.commands.registerCommand("mpi-queues.picture", () => { picture.open(); }),
  );
}

function attach(): Thenable<boolean> {
  return vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], { name: "MPI: attach to a job", type: "mpi", request: "attach" });
}

/** Does what the view's user wants. */
async function grant(wish: Wish, follower: Follower): Promise<void> {
  if (wish.kind === "attach") await attach();
  if (wish.kind === "picture") await vscode.commands.executeCommand("mpi-queues.picture");
  if (wish.kind !== "go") return;
  const last = follower.current();
  if (last === undefined) return;
  const { rank, inferior } = wish;
  const entry = rankIn(last.documents, rank, inferior);
  // Other adapters show a process of their own alone.
  if (last.way === "requests" && vscode.debug.activeDebugSession?.type === "mpi" && entry?.inferior != null) {
    await last.session.customRequest(selectRequest, { rank, inferior: entry.inferior }).then(undefined, showError);
  }
  const name = rank === null ? `inferior ${inferior ?? "unknown"}` : `rank ${rank}`;
  if (entry?.file == null || entry.line === null) {
    showInformation(`Where ${name} is in the program's source is not known${entry?.unplaced ? `: ${entry.unplaced}` : "."}`);
  } else if (!(await openLine(entry.file, entry.line))) {
    showInformation(`${name} is at ${entry.file}:${entry.line}, a file that is not here.`);
  }
}
