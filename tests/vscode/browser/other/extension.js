// Debuggers that know nothing of MPI: gdb as its configuration names it, by DAP and by MI.
const vscode = require("vscode");
const { Mi } = require("./mi.js");

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("other-gdb", {
      createDebugAdapterDescriptor: ({ configuration }) => new vscode.DebugAdapterExecutable(configuration.gdb, configuration.args),
    }),
    vscode.debug.registerDebugAdapterDescriptorFactory("cppdbg", {
      createDebugAdapterDescriptor: ({ configuration }) => {
        const messages = new vscode.EventEmitter();
        const debugged = new Mi(configuration.miDebuggerPath, configuration.args, (message) => messages.fire(message));
        return new vscode.DebugAdapterInlineImplementation({
          onDidSendMessage: messages.event,
          handleMessage: (message) => void debugged.handle(message),
          dispose: () => debugged.dispose(),
        });
      },
    }),
  );
};
