// Writes spans and measurements. Knows OpenTelemetry and the names, nothing about when a call begins or ends.

import {
  createNoopMeter,
  diag,
  metrics,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Histogram,
  type MeterProvider,
  type Span,
  type SpanContext,
  type TracerProvider,
} from "@opentelemetry/api";
import type { Stopwatch } from "../../spi.js";
import {
  CONVERSATION_ID,
  DURATION,
  ERROR_TYPE,
  EXECUTE_TOOL,
  INSTRUMENTATION,
  OPERATION_NAME,
  RUN_ID,
  TOOL_CALL_ID,
  TOOL_NAME,
  TOOL_TYPE,
  WAIT_FOR_APPROVAL,
} from "./names.js";

/** What names a call in a trace. */
export interface CallNames {
  readonly tool: string;
  readonly callId: string;
  readonly runId: string;
  readonly threadId: string | undefined;
}

export interface Providers {
  readonly tracerProvider?: TracerProvider | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

/** A tracer that fails must not fail a call: it may just have run. */
export function quietly(write: () => void): void {
  try {
    write();
  } catch (error) {
    diag.error(`${INSTRUMENTATION}: a call could not be traced`, error);
  }
}

export class Telemetry {
  readonly #providers: Providers;
  #histogram: { readonly of: MeterProvider; readonly histogram: Histogram } | undefined;

  constructor(providers: Providers) {
    this.#providers = providers;
  }

  /** Nobody listens: no SDK is registered and none was given. */
  isOff(): boolean {
    const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = this.#providers;
    const isTraced =
      !(tracerProvider instanceof ProxyTracerProvider) ||
      tracerProvider.getDelegateTracer(INSTRUMENTATION) !== undefined;
    return !isTraced && meterProvider.getMeter(INSTRUMENTATION) === createNoopMeter();
  }

  /** A call that began when the stopwatch did; `link` is what it waited for. */
  startCall(names: CallNames, watch: Stopwatch, { parent, link }: { parent: Context; link: SpanContext | undefined }) {
    return this.#tracer().startSpan(
      `${EXECUTE_TOOL} ${names.tool}`,
      {
        kind: SpanKind.INTERNAL,
        startTime: watch.startedAt,
        attributes: { [OPERATION_NAME]: EXECUTE_TOOL, [TOOL_TYPE]: "function", ...attributesOf(names) },
        ...(link === undefined ? {} : { links: [{ context: link }] }),
      },
      parent,
    );
  }

  /** The call is over: its span and its measurement, with the same duration. */
  endCall(span: Span, { tool }: CallNames, end: { watch: Stopwatch; parent: Context; errorType: string | undefined }) {
    const { watch, parent, errorType } = end;
    const elapsedMs = watch.elapsedMs();
    const failed = errorType === undefined ? {} : { [ERROR_TYPE]: errorType };
    // No description: messages of tools may hold arguments and results.
    if (errorType !== undefined) span.setStatus({ code: SpanStatusCode.ERROR }).setAttributes(failed);
    span.end(watch.startedAt + elapsedMs);
    const measured: Attributes = { [OPERATION_NAME]: EXECUTE_TOOL, [TOOL_NAME]: tool, ...failed };
    this.#duration().record(elapsedMs / 1000, measured, trace.setSpan(parent, span));
  }

  /** From the question to the moment its answer was used. */
  recordWait(names: CallNames, wait: { startTime: number; attributes: Attributes; parent: Context }): SpanContext {
    const span = this.#tracer().startSpan(
      `${WAIT_FOR_APPROVAL} ${names.tool}`,
      {
        kind: SpanKind.INTERNAL,
        startTime: wait.startTime,
        attributes: { ...attributesOf(names), ...wait.attributes },
      },
      wait.parent,
    );
    span.end();
    return span.spanContext();
  }

  #tracer() {
    return this.#providers.tracerProvider?.getTracer(INSTRUMENTATION) ?? trace.getTracer(INSTRUMENTATION);
  }

  /** The global provider may come later than the hook, and an instrument of the one before measures nothing. */
  #duration(): Histogram {
    const of = this.#providers.meterProvider ?? metrics.getMeterProvider();
    if (this.#histogram?.of !== of) {
      const histogram = of.getMeter(INSTRUMENTATION).createHistogram(DURATION, {
        unit: "s",
        description: "How long tool calls took, without waiting for a human",
        advice: { explicitBucketBoundaries: BOUNDARIES },
      });
      this.#histogram = { of, histogram };
    }
    return this.#histogram.histogram;
  }
}

/** Those of the conventions for durations of GenAI operations. */
const BOUNDARIES = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

function attributesOf({ tool, callId, runId, threadId }: CallNames): Attributes {
  return {
    [TOOL_NAME]: tool,
    [TOOL_CALL_ID]: callId,
    [RUN_ID]: runId,
    ...(threadId === undefined ? {} : { [CONVERSATION_ID]: threadId }),
  };
}
