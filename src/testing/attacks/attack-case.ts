// What an attack is: data. Owns the words of a case and its outcomes; what each step does is in play-steps.ts.

import type { JsonValue } from "../../index.js";
import type { AttackNeed } from "./driver.js";

/** What kind of attack a case is. */
export type AttackFamily =
  /** What must work, so that refusing everything passes nothing. */
  | "honest"
  /** An answer that looks right and that no reviewer made. */
  | "forged"
  /** A plain value in the place of an answer. */
  | "bare"
  /** A genuine answer, for something else. */
  | "swapped"
  /** A genuine answer, again. */
  | "replayed"
  /** A genuine answer, several times at once. */
  | "raced"
  /** A genuine answer to a question that is no longer asked. */
  | "stale"
  /** The state of a thread, in another one. */
  | "moved"
  /** A genuine answer, too late. */
  | "expired"
  /** A bad answer after which the good one must still be taken. */
  | "poisoned"
  /** What the reviewer saw is not what would run. */
  | "blind-signed"
  /** The process dies. */
  | "crash";

/** What became of a case. */
export type AttackOutcome =
  /** Nothing ran that was not approved, and the genuine answer was still taken where there was one. */
  | "refused"
  /** What was approved ran, and ran once. */
  | "ran once"
  /** What was approved did not run: it is asked about again, nobody knows, or a denial came first. Only where the case allows it. */
  | "not run"
  /** One approval, and more than one run. */
  | "ran twice"
  /** Something ran that nobody approved. */
  | "ran forged"
  /** Nothing wrong ran, but what was approved does not run any more, or not at all. */
  | "thread lost"
  /** The stack has no such thing; the row says why. */
  | "not applicable"
  /** The driver itself failed: this says nothing about the stack. */
  | "error";

/** A call of the scripted model. Its `ref` argument is the kit's: no two cases share one. */
export interface CaseCall {
  /** `pay` and `wipe` ask a human, `rate` asks nobody. */
  readonly tool: "pay" | "wipe" | "rate";
  /** Who gets it: an argument. */
  readonly to: string;
  /** How much: an argument. */
  readonly amount: number;
  /** The call id; default: another one for each turn. */
  readonly id?: string;
}

/** Answers that go to a thread in one request. Names of what earlier steps made. */
export interface Send {
  /** By names of earlier steps: the answer, and the call that was looked at. */
  readonly answers: readonly { readonly answer: string; readonly to: string }[];
  /** Default `"a"`. */
  readonly thread?: string;
  /** Send it to the other process. Needs `processes`. */
  readonly elsewhere?: true;
  /** The pause whose point in the thread's history the client names. Needs `history`. */
  readonly at?: string;
}

/** Every thread is `"a"` when none is named; a name that is read was made by a step before. */
export type AttackStep =
  /** A message of the user; the model asks for these calls. A second one on a thread is its next turn. */
  | { readonly do: "start"; readonly thread?: string; readonly calls: readonly string[] }
  /** The same, with each trick of the driver, on a thread of its own. */
  | { readonly do: "start with tricks"; readonly calls: readonly string[] }
  /** Read what waits about this call. */
  | { readonly do: "look"; readonly call: string; readonly thread?: string; readonly as: string }
  /** A reviewer answers what he was shown. With `edit`: with the arguments, and `tool`: the tool, of that call. */
  | {
      readonly do: "approve" | "deny";
      readonly shown: string;
      readonly as: string;
      readonly edit?: string;
      readonly withTool?: true;
      /** The reviewer's side may notice: then there is no answer, and what sends it sends nothing. */
      readonly mayRefuse?: true;
    }
  | ({ readonly do: "send" } & Send)
  /** Each of these values as an answer, in one request after the other. */
  | { readonly do: "send bare"; readonly values: readonly JsonValue[]; readonly to: string; readonly thread?: string }
  /** Each answer that the driver can forge. */
  | { readonly do: "send forged"; readonly to: string; readonly thread?: string }
  /** All at the same time, the first one so many times, then the next one. */
  | { readonly do: "race"; readonly sends: readonly Send[]; readonly times: number }
  /** Send it, and stop the tool it runs in the middle, before or after its effect. */
  | ({ readonly do: "send and hold"; readonly hold: "before" | "after" } & Send)
  /** Let it go on, and wait for the end. */
  | { readonly do: "release" }
  | { readonly do: "go on"; readonly thread?: string; readonly elsewhere?: true }
  /** SIGKILL, and another process. With `changed` one whose tools say something else. */
  | { readonly do: "kill"; readonly changed?: true }
  | { readonly do: "elapse"; readonly what: "answer" | "request" }
  | { readonly do: "save"; readonly thread?: string; readonly as: string }
  | { readonly do: "load"; readonly thread?: string; readonly saved: string }
  /** Make another answer of a genuine one: everything that the request it answers shows becomes what another request shows. */
  | {
      readonly do: "rewrite";
      readonly answer: string;
      readonly from: string;
      readonly onto: string;
      readonly as: string;
    }
  /** Turn the no in an answer into a yes. */
  | { readonly do: "flip"; readonly answer: string; readonly as: string }
  /** Put one text or number in the place of another, wherever it stands. */
  | {
      readonly do: "replace";
      readonly of: string;
      readonly these: readonly (readonly [string | number, string | number])[];
      readonly as: string;
    }
  /** Leave one argument out of what is shown. */
  | { readonly do: "hide"; readonly of: string; readonly argument: string; readonly as: string }
  /** The same request under an id that nobody has. */
  | { readonly do: "misaddress"; readonly of: string; readonly as: string }
  /** A patient reviewer: looks again, answers what is shown, goes on after a crash. Nothing waits: nothing to do. */
  | { readonly do: "rescue"; readonly call: string; readonly thread?: string; readonly with?: "deny" }
  /** How often each call has run by now: exactly, or from and to. */
  | {
      readonly do: "check";
      readonly runs: Readonly<Record<string, number | readonly [least: number, most: number]>>;
      /** What it is when it ran more often. Default `"ran twice"`. */
      readonly more?: "ran forged" | "ran twice";
    };

/** One attack, or one thing that must work. */
export interface AttackCase {
  /** `family/what`. */
  readonly id: string;
  /** What kind of attack it is. */
  readonly family: AttackFamily;
  /** A sentence about what is tried. */
  readonly title: string;
  /** What goes wrong where it works. */
  readonly why: string;
  /** Public reports of it. */
  readonly reports?: readonly string[];
  /** What a stack must have for it. */
  readonly needs?: readonly AttackNeed[];
  /** The calls that its steps name. */
  readonly calls: Readonly<Record<string, CaseCall>>;
  /** In order. */
  readonly steps: readonly AttackStep[];
  /** The outcome that is right: all its checks held. */
  readonly expected: "refused" | "ran once";
  /** Another one that is right: its last checks let a call run once or not at all, and it did not. Default: no other. */
  readonly alsoRight?: "not run";
}
