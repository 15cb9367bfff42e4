// Several OS processes that start each round together: all of them wait for a message, and nobody gets the next one before
// everybody has answered or is dead.
import { startChild, type Child, type Message } from "./child.js";

export class Team {
  readonly #start: () => Child;
  readonly #members: Child[];
  #killed = 0;

  private constructor(start: () => Child, members: Child[]) {
    this.#start = start;
    this.#members = members;
  }

  /** Start that many and wait until each has said that it is ready. */
  static async start(size: number, script: string, argument: unknown): Promise<Team> {
    const start = () => startChild(script, argument);
    const members = Array.from({ length: size }, start);
    const team = new Team(start, members);
    for (const member of members) await ready(member);
    return team;
  }

  /** How many were killed so far. */
  get killed(): number {
    return this.#killed;
  }

  get pids(): readonly number[] {
    return this.#members.map(({ pid }) => pid);
  }

  /** Who is dead is replaced first. Gives every answer; `undefined` from who died meanwhile. */
  async round(messages: readonly Message[]): Promise<readonly (Message | undefined)[]> {
    const fresh = this.#members.map((member, index) => (member.isGone ? this.#replace(index) : undefined));
    for (const member of fresh) if (member !== undefined) await ready(member);
    const answers = messages.map((message, index) => {
      const member = this.#member(index);
      member.send(message);
      return member.next();
    });
    return Promise.all(answers);
  }

  /** SIGKILL one of them, now. */
  kill(index: number): void {
    this.#member(index).kill();
    this.#killed += 1;
  }

  async killAll(): Promise<void> {
    for (const index of this.#members.keys()) this.kill(index);
    await Promise.all(this.#members.map((member) => member.ended()));
  }

  async stop(): Promise<void> {
    for (const member of this.#members) member.kill();
    await Promise.all(this.#members.map((member) => member.ended()));
  }

  #replace(index: number): Child {
    const member = this.#start();
    this.#members[index] = member;
    return member;
  }

  #member(index: number): Child {
    const member = this.#members[index];
    if (member === undefined) throw new Error(`there is no member ${index}`);
    return member;
  }
}

async function ready(member: Child): Promise<void> {
  const message = await member.next();
  if (message?.["ready"] !== true) throw new Error(`a process ended before it was ready: ${JSON.stringify(message)}`);
}
