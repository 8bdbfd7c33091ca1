// Follows debug sessions, and keeps for each one what its last stop is shown from.
import { readDocuments, readPicture, type Session, type Way } from "../documents/source";
import type { Documents, Read } from "../documents/types";
import { shownOf } from "../model/shown";
import type { Condition, PictureState, Shown, State } from "../model/state";

export interface Followed extends Session {
  readonly id: string;
  readonly name: string;
}

interface Last {
  session: Followed;
  way: Way;
  condition: Condition;
  shown: Shown | null;
  documents: Documents | null;
  picture: Read<string> | null;
  /** Whether the picture of this stop was asked for. */
  isDrawn: boolean;
  /** Counts what has happened, so that what was read before is not taken for the present. */
  turn: number;
}

export class Follower {
  private readonly sessions = new Map<string, Last>();
  private active: string | undefined;

  /** changed is called after each change of what the view shows. */
  constructor(private readonly changed: () => void) {}

  began(session: Followed, way: Way): void {
    this.sessions.set(session.id, { session, way, condition: "running", shown: null, documents: null, picture: null, isDrawn: false, turn: 0 });
    this.tell(session.id);
  }

  ended(id: string): void {
    this.sessions.delete(id);
    this.changed();
  }

  /** The user looks at a session now, or at none. */
  activated(id: string | undefined): void {
    this.active = id;
    this.changed();
  }

  /** A message from a session's debug adapter. */
  heard(id: string, event: string): void {
    const last = this.sessions.get(id);
    if (last === undefined) return;
    if (event === "stopped") void this.read(last);
    else if (event === "continued") {
      last.turn++;
      last.condition = "running";
      this.tell(id);
    }
  }

  /** Reads the session again that is shown. */
  async refresh(): Promise<void> {
    const last = this.current();
    if (last) await this.read(last);
  }

  /** The session that is shown, and its documents. */
  current(): Last | undefined {
    const active = this.active === undefined ? undefined : this.sessions.get(this.active);
    return active ?? (this.sessions.size === 1 ? [...this.sessions.values()][0] : undefined);
  }

  state(): State {
    const last = this.current();
    return last === undefined ? { condition: "none", session: "", shown: null } : { condition: last.condition, session: last.session.name, shown: last.shown };
  }

  pictureState(): PictureState {
    const last = this.current();
    if (last === undefined) return { condition: "none", session: "", verdict: null, why: "", picture: null };
    return { condition: last.condition, session: last.session.name, verdict: last.shown?.verdict ?? null, why: last.shown?.why ?? "", picture: last.picture };
  }

  /** Reads the picture of this stop, which nobody needs who does not look at it. */
  async draw(): Promise<void> {
    const last = this.current();
    if (last?.condition !== "stopped" || last.isDrawn) return;
    const { turn } = last;
    last.isDrawn = true;
    const picture = await readPicture(last.session, last.way);
    if (turn !== last.turn) return;
    last.picture = picture;
    this.tell(last.session.id);
  }

  private async read(last: Last): Promise<void> {
    const turn = ++last.turn;
    last.condition = "reading";
    this.tell(last.session.id);
    // Several stops that come at once are read once.
    await Promise.resolve();
    if (turn !== last.turn) return;
    const documents = await readDocuments(last.session, last.way);
    if (turn !== last.turn) return;
    last.documents = documents;
    last.isDrawn = false;
    last.shown = shownOf(documents);
    last.condition = "stopped";
    this.tell(last.session.id);
  }

  private tell(id: string): void {
    if (this.current()?.session.id === id) this.changed();
  }
}
