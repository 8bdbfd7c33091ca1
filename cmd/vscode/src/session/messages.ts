// The messages of the Debug Adapter Protocol, and how they are framed in a stream.

export interface Request {
  type: "request";
  seq: number;
  command: string;
  arguments?: unknown;
}

export interface Response {
  type: "response";
  seq: number;
  request_seq: number;
  command: string;
  success: boolean;
  message?: string;
  body?: unknown;
}

export interface Event {
  type: "event";
  seq: number;
  event: string;
  body?: unknown;
}

export type Message = Request | Response | Event;

/** Returns the bytes of a message. */
export function framed(message: Message): Buffer {
  const text = Buffer.from(JSON.stringify(message), "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${text.length}\r\n\r\n`, "ascii"), text]);
}

const headerEnd = Buffer.from("\r\n\r\n", "ascii");

/** Takes a stream apart into its messages. */
export class Unframer {
  private parts: Buffer[] = [];
  private have = 0; // the bytes of all parts
  private wanted = 0; // the bytes of the message whose header has been read, or 0

  /** Returns the messages that end in the next bytes. Throws if the stream is none of messages. */
  add(bytes: Buffer): Message[] {
    this.parts.push(bytes);
    this.have += bytes.length;
    const messages: Message[] = [];
    // Long messages come in many pieces, which are put together once.
    while (this.have > 0 && this.have >= this.wanted) {
      let all = this.parts.length === 1 && this.parts[0] !== undefined ? this.parts[0] : Buffer.concat(this.parts);
      if (this.wanted === 0) {
        const end = all.indexOf(headerEnd);
        if (end < 0) {
          this.keep(all);
          break;
        }
        const length = /^Content-Length: *(\d+)$/im.exec(all.toString("ascii", 0, end))?.[1];
        if (length === undefined) throw new Error(`gdb has written what is no message: ${all.toString("utf8", 0, 200)}`);
        this.wanted = Number(length);
        this.keep(all.subarray(end + headerEnd.length));
        if (this.wanted > 0) continue;
        all = Buffer.alloc(0);
      }
      const text = all.toString("utf8", 0, this.wanted);
      this.keep(all.subarray(this.wanted));
      this.wanted = 0;
      if (text !== "") messages.push(JSON.parse(text) as Message);
    }
    return messages;
  }

  private keep(bytes: Buffer): void {
    this.parts = bytes.length > 0 ? [bytes] : [];
    this.have = bytes.length;
  }
}
