// A tab of the editor with a page, of which there is one at most.
import * as vscode from "vscode";
import type { Wish } from "../model/state";
import type { Form } from "./html";
import { Page } from "./page";

export class Tab {
  private panel: vscode.WebviewPanel | undefined;
  private page: Page | undefined;

  /** shown is called when somebody sees the tab who did not before. */
  constructor(
    private readonly folder: vscode.Uri,
    private readonly type: string,
    private readonly form: Form,
    private readonly state: () => unknown,
    private readonly wanted: (wish: Wish) => void,
    private readonly shown: () => void = () => undefined,
  ) {}

  get isVisible(): boolean {
    return this.panel?.visible === true;
  }

  /** Opens the tab, or goes to it. */
  open(): void {
    if (this.panel !== undefined) {
      this.panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel(this.type, this.form.title, vscode.ViewColumn.Active, {});
    this.panel = panel;
    this.page = new Page(panel.webview, this.folder, this.form, this.state, this.wanted);
    panel.onDidChangeViewState(() => {
      this.draw();
      if (this.isVisible) this.shown();
    });
    panel.onDidDispose(() => { this.panel = this.page = undefined; });
    this.shown();
  }

  /** Shows what there is now, if anybody sees it. */
  draw(): void {
    if (this.isVisible) this.page?.draw();
  }
}
