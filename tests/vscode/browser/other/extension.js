// A debugger that knows nothing of MPI: gdb as its configuration names it.
const vscode = require("vscode");

exports.activate = (context) => {
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("other-gdb", {
    createDebugAdapterDescriptor: ({ configuration }) => new vscode.DebugAdapterExecutable(configuration.gdb, configuration.args),
  }));
};
