// A page in a webview: what it shows is posted to it, and what its user wants comes back.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Wish } from "../model/state";
import { type Form, pageOf } from "./html";

export class Page {
  constructor(
    private readonly webview: vscode.Webview,
    folder: vscode.Uri,
    form: Form,
    private readonly state: () => unknown,
    wanted: (wish: Wish) => void,
  ) {
    const dist = vscode.Uri.joinPath(folder, "dist");
    const own = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, file)).toString();
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    webview.onDidReceiveMessage((wish: Wish) => {
      if (wish.kind === "ready") this.draw();
      else wanted(wish);
    });
    webview.html = pageOf(form, { script: own(`${form.name}.js`), style: own(`${form.name}.css`), own: webview.cspSource }, randomBytes(16).toString("base64"));
  }

  /** Shows what there is now. */
  draw(): void {
    void this.webview.postMessage(this.state());
  }
}
