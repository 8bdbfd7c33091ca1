// Stands for the editor's module "vscode": what the extension asks of it is kept for the tests to look at.

type Any = Record<string, unknown>;

/** What the extension has registered and shown since the last reset. */
export const kept = {
  registered: new Map<string, unknown>(),
  errors: [] as string[],
  information: [] as string[],
  picks: [] as { label: string; pid: number }[][],
  started: [] as unknown[],
  /** The tabs that were opened, what was posted to them, and what takes their users' wishes. */
  panels: [] as { title: string; posted: unknown[]; wish: (wish: unknown) => void }[],
  settings: {} as Any,
  /** The label that the user picks. */
  picked: "",
  activeType: "mpi",
};

const register = (name: string) => (id: string, what: unknown): object => {
  kept.registered.set(`${name} ${id}`, what);
  return { dispose: () => undefined };
};
const listener = (name: string) => (what: unknown): object => register("on")(name, what);

export class EventEmitter<T> {
  private readonly listeners: ((value: T) => void)[] = [];
  readonly event = (heard: (value: T) => void): void => { this.listeners.push(heard); };
  fire(value: T): void { for (const heard of this.listeners) heard(value); }
}

export class DebugAdapterInlineImplementation {
  constructor(readonly implementation: unknown) {}
}

export const DebugConfigurationProviderTriggerKind = { Initial: 1, Dynamic: 2 };

export const Uri = { file: (path: string) => ({ path, fsPath: path }), joinPath: (uri: { path: string }, ...parts: string[]) => ({ path: [uri.path, ...parts].join("/"), toString: () => [uri.path, ...parts].join("/") }) };

export const commands = { registerCommand: register("command"), executeCommand: () => Promise.resolve() };

export const debug = {
  registerDebugConfigurationProvider: register("configurations"),
  registerDebugAdapterDescriptorFactory: register("adapter"),
  registerDebugAdapterTrackerFactory: register("tracker"),
  onDidTerminateDebugSession: listener("terminated"),
  onDidChangeActiveDebugSession: listener("activated"),
  startDebugging: (_: unknown, config: unknown) => { kept.started.push(config); return Promise.resolve(true); },
  get activeDebugSession() { return { type: kept.activeType }; },
};

export const ViewColumn = { Active: -1 };

function createWebviewPanel(_: string, title: string): object {
  const panel = { title, posted: [] as unknown[], wish: (wish: unknown): void => { void wish; } };
  kept.panels.push(panel);
  return {
    visible: true,
    reveal: () => undefined,
    onDidChangeViewState: () => undefined,
    onDidDispose: () => undefined,
    webview: {
      cspSource: "https://own", html: "", options: {}, asWebviewUri: (uri: unknown) => uri,
      onDidReceiveMessage: (heard: (wish: unknown) => void) => { panel.wish = heard; },
      postMessage: (state: unknown) => panel.posted.push(state),
    },
  };
}

export const window = {
  createWebviewPanel,
  registerWebviewViewProvider: register("view"),
  showErrorMessage: (text: string) => { kept.errors.push(text); return Promise.resolve(undefined); },
  showInformationMessage: (text: string) => { kept.information.push(text); return Promise.resolve(undefined); },
  showQuickPick: (items: { label: string; pid: number }[]) => { kept.picks.push(items); return Promise.resolve(items.find(({ label }) => label === kept.picked)); },
};

export const workspace = {
  workspaceFolders: undefined,
  getConfiguration: () => ({ get: (name: string, otherwise: unknown) => kept.settings[name] ?? otherwise }),
  findFiles: () => Promise.resolve([]),
  openTextDocument: () => Promise.reject(new Error("no file")),
};
