// The view "MPI" in the side bar of Run and Debug.
//
// It is a page with a list of its own, and not a tree of the editor's: the filters, and all fields of an
// operation, have no place in such a tree, and it would make an element for each of a queue's operations
// as soon as the queue is opened.
import type * as vscode from "vscode";
import type { State, Wish } from "../model/state";
import { queuesForm } from "./html";
import { Page } from "./page";

export class View implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private page: Page | undefined;

  constructor(
    private readonly folder: vscode.Uri,
    private readonly state: () => State,
    private readonly wanted: (wish: Wish) => void,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.page = new Page(view.webview, this.folder, queuesForm, this.state, this.wanted);
    view.onDidChangeVisibility(() => { this.draw(); });
    view.onDidDispose(() => { this.view = this.page = undefined; });
  }

  /** Shows what there is now, if anybody sees it. */
  draw(): void {
    if (this.view?.visible === true) this.page?.draw();
  }
}
