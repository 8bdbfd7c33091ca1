// What the view has to show of a document that `mpi-queues -all -json' writes.

const keys = ["pending_sends", "pending_receives", "unexpected_messages"];

/** The fields of all operations but the library's own, as the view names and writes them, in no order. */
export function fieldsOf(document) {
  return document.processes.flatMap((process) =>
    process.communicators.flatMap((communicator) =>
      keys.flatMap((key) =>
        (communicator[key] ?? []).map((operation) =>
          Object.fromEntries([
            ["queue", key.split("_").filter((word) => word !== "pending" && word !== "messages").join(" ")],
            ["global rank", text(process.global_rank)],
            ["local rank", text(communicator.local_rank)],
            ...Object.entries(operation).map(([name, value]) => [name.replaceAll("_", " "), text(value)]),
          ])))));
}

function text(value) {
  if (value === null) return "?";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join("; ") : String(value);
}

/** An order that does not depend on that of the view. */
export function sorted(operations) {
  return operations.map((operation) => JSON.stringify(Object.entries(operation).sort())).sort();
}
