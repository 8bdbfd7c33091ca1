import { describe, expect, it } from "vitest";
import { framed, type Message, Unframer } from "../src/session/messages";

const messages: Message[] = [
  { type: "event", seq: 1, event: "initialized" },
  { type: "response", seq: 2, request_seq: 1, command: "evaluate", success: true, body: { result: "Zürich → \n\r\n\r\n" } },
  { type: "request", seq: 3, command: "threads" },
];

describe("messages", () => {
  const stream = Buffer.concat(messages.map(framed));

  it.each([1, 2, 7, 100, stream.length])("come out of a stream in pieces of %d bytes", (size) => {
    const unframer = new Unframer();
    const got: Message[] = [];
    for (let at = 0; at < stream.length; at += size) got.push(...unframer.add(stream.subarray(at, at + size)));
    expect(got).toEqual(messages);
  });

  it("are refused where there are none", () => {
    expect(() => new Unframer().add(Buffer.from("GNU gdb (GDB) 13.1\r\n\r\n"))).toThrow("GNU gdb");
  });
});
