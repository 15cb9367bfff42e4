// `OpenTelemetryHook`: when a call begins, waits and ends, as spans. What they are called is in names.ts.
//   O1  one `execute_tool` span for a call that ended; it begins when the call does, or when its answer is used
//   O2  a pause writes nothing; the wait is written when its answer is used, by whichever process
//   O3  nothing of arguments, results and messages, unless `values` is on

import {
  context,
  trace,
  type Attributes,
  type Context,
  type MeterProvider,
  type TracerProvider,
} from "@opentelemetry/api";
import {
  currentContext,
  isAgentAdapterError,
  ToolUsageError,
  type ApprovalEvent,
  type BeforeAnswer,
  type Hook,
  type HookCall,
  type Ledger,
} from "../../index.js";
import { refuseUnknown, startStopwatch } from "../../spi.js";
import {
  APPROVAL_ALREADY_DECIDED,
  APPROVAL_ASKED,
  APPROVAL_BINDING,
  APPROVAL_DECIDED_BY,
  APPROVAL_DECISION,
  CANCELLED,
  MODEL_VISIBLE,
  TOOL_CALL_ARGUMENTS,
  TOOL_CALL_ID,
  TOOL_CALL_RESULT,
  TOOL_NAME,
} from "./names.js";
import { namesOf, TracedCalls, type TracedCall } from "./open-calls.js";
import { RefusedCalls } from "./refused-calls.js";
import { quietly, Telemetry } from "./telemetry.js";

/** Where spans and numbers go, and what is in them. */
export interface OpenTelemetryHookOptions {
  /** Also write arguments and results, as JSON. They may be personal data: default `false`. */
  readonly values?: boolean;
  /** Default: the global one, at the time of each call. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the global one, at the time of each call. */
  readonly meterProvider?: MeterProvider;
}

/**
 * Traces calls: an `execute_tool` span with the attributes of the GenAI semantic conventions for each call that ended, a
 * `wait_for_approval` span for each answer that was used, and the histogram `gen_ai.execute_tool.duration`. Both are children
 * of the span that is active where the call is made. Without an OpenTelemetry SDK it does nothing. Give it first among the hooks, so that it hears of what the others
 * refuse. Replays and pauses have no span.
 *
 * @example new Executor(registry, { hooks: [new OpenTelemetryHook()] });
 */
export class OpenTelemetryHook implements Hook {
  readonly #telemetry: Telemetry;
  readonly #calls = new TracedCalls();
  readonly #values: boolean;

  /** @throws ToolUsageError naming the option that does not exist */
  constructor(options: OpenTelemetryHookOptions = {}) {
    const { values = false, tracerProvider, meterProvider, ...rest } = options;
    refuseUnknown("OpenTelemetryHook", rest);
    if (typeof values !== "boolean") throw new ToolUsageError("OpenTelemetryHook: values must be true or false");
    this.#values = values;
    this.#telemetry = new Telemetry({ tracerProvider, meterProvider });
  }

  beforeTool(call: HookCall): BeforeAnswer | undefined {
    if (this.#telemetry.isOff()) return undefined;
    const traced: TracedCall = {
      names: namesOf(call, call.context),
      context: call.context,
      parent: this.#parentOf(),
      watch: startStopwatch(),
      span: undefined,
      waited: undefined,
      over: false,
    };
    this.#calls.add(traced);
    return { finally: () => this.#leave(traced) };
  }

  afterTool(call: HookCall, result: unknown): void {
    const attributes = () => (this.#values ? { [TOOL_CALL_RESULT]: jsonOf(result) } : {});
    quietly(() => this.#end(call, attributes(), undefined));
  }

  onError(call: HookCall, error: unknown): void {
    quietly(() => this.#fail(call, error));
  }

  onApproval(call: HookCall, event: ApprovalEvent): void {
    const traced = this.#find(call);
    if (traced === undefined) return;
    if (event.state === "asked") {
      quietly(() => tellParent(traced, APPROVAL_ASKED, { [APPROVAL_BINDING]: event.binding }));
      return;
    }
    const attributes = {
      [APPROVAL_BINDING]: event.binding,
      [APPROVAL_DECISION]: event.state,
      ...(event.decidedBy === undefined ? {} : { [APPROVAL_DECIDED_BY]: event.decidedBy }),
    };
    quietly(() => {
      const { names, parent } = traced;
      traced.waited = this.#telemetry.recordWait(names, { startTime: event.askedAt, attributes, parent });
    });
    traced.watch = startStopwatch();
  }

  /**
   * Run a part of a tool's body under the span of its call, so that what it traces are children of the call. Outside a call
   * that this hook traces it just runs.
   *
   * @example
   * const tracing = new OpenTelemetryHook();
   * const load = (url: string) => tracing.inSpan(() => fetch(url)); // in a tool's function
   */
  inSpan<T>(body: () => T): T {
    const around = this.#currentCall();
    return around === undefined ? body() : context.with(this.#contextOf(around), body);
  }

  /**
   * The ledger, with a span for each call that no hook hears of: arguments that do not fit, tools that do not exist.
   *
   * @example
   * const tracing = new OpenTelemetryHook();
   * new Executor(registry, { hooks: [tracing], ledger: tracing.ledger(new MemoryLedger()) });
   */
  ledger(inner: Ledger): Ledger {
    return new RefusedCalls(inner, this.#telemetry, { traced: this.#calls, values: this.#values });
  }

  /** A call made in a tool's body is that call's child, unless the body opened a span of its own. */
  #parentOf(): Context {
    const active = context.active();
    const around = this.#currentCall();
    if (around === undefined) return active;
    const isInherited = trace.getSpan(active) === trace.getSpan(around.parent);
    return isInherited ? this.#contextOf(around) : active;
  }

  #currentCall(): TracedCall | undefined {
    const current = currentContext();
    return current === undefined ? undefined : this.#calls.find(namesOf(current, current), current);
  }

  #find(call: HookCall): TracedCall | undefined {
    return this.#calls.find(namesOf(call, call.context), call.context);
  }

  #spanOf(traced: TracedCall) {
    const { names, watch, parent, waited } = traced;
    traced.span ??= this.#telemetry.startCall(names, watch, { parent, link: waited });
    return traced.span;
  }

  #contextOf(traced: TracedCall): Context {
    return trace.setSpan(traced.parent, this.#spanOf(traced));
  }

  #fail(call: HookCall, error: unknown): void {
    if (!isAgentAdapterError(error)) return this.#end(call, { [MODEL_VISIBLE]: false }, "Error");
    const traced = this.#find(call);
    if (error.kind !== "ApprovalAlreadyDecided") {
      this.#end(call, { [MODEL_VISIBLE]: error.modelVisible }, error.kind);
    } else if (traced !== undefined) {
      // Of two runs of one call, this one did not happen: the other one has the span.
      tellParent(traced, APPROVAL_ALREADY_DECIDED);
    }
  }

  #end(call: HookCall, attributes: Attributes, errorType: string | undefined): void {
    const traced = this.#find(call);
    if (traced === undefined || traced.over) return;
    const values = this.#values ? { [TOOL_CALL_ARGUMENTS]: jsonOf(call.arguments) } : {};
    this.#write(traced, { ...attributes, ...values }, errorType);
  }

  #write(traced: TracedCall, attributes: Attributes, errorType: string | undefined): void {
    const span = this.#spanOf(traced).setAttributes(attributes);
    const { names, watch, parent } = traced;
    this.#telemetry.endCall(span, names, { watch, parent, errorType });
    traced.over = true;
  }

  /** However it ended: one that was aborted heard of no end, and one that paused has no span yet. */
  #leave(traced: TracedCall): void {
    const isCancelled = traced.context.signal?.aborted === true || traced.span !== undefined;
    this.#calls.remove(traced);
    if (!traced.over && isCancelled) quietly(() => this.#write(traced, {}, CANCELLED));
  }
}

function tellParent({ parent, names }: TracedCall, event: string, attributes: Attributes = {}): void {
  trace.getSpan(parent)?.addEvent(event, { [TOOL_NAME]: names.tool, [TOOL_CALL_ID]: names.callId, ...attributes });
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "undefined";
  } catch {
    return "(not JSON)";
  }
}
