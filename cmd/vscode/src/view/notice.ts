// Shows messages and lists outside our pages. Nothing else in the extension does: the editor makes links, which
// can run its commands, of texts that may contain a program's words (test/notice.test.ts checks this).
import * as vscode from "vscode";
import { plain } from "../model/lines";
import type { Choice } from "../tools/jobs";

export function showInformation(text: string): void {
  void vscode.window.showInformationMessage(plain(text));
}

/** Shows what went wrong, and returns the action that the user chose, if any. */
export function showError(error: unknown, ...actions: string[]): Thenable<string | undefined> {
  return vscode.window.showErrorMessage(plain(textOf(error)), ...actions);
}

/** Returns an error that is harmless for the editor to show. */
export function shownError(error: unknown): Error {
  return new Error(plain(textOf(error)));
}

/** Lets the user pick one of the choices. */
export function pick(choices: readonly Choice[], title: string, placeHolder: string): Thenable<Choice | undefined> {
  const items = choices.map((choice) => ({
    ...choice, label: `$(${choice.icon}) ${plain(choice.label)}`, description: plain(choice.description), detail: plain(choice.detail),
  }));
  return vscode.window.showQuickPick(items, { title, placeHolder, matchOnDescription: true, matchOnDetail: true });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
