// The real OpenTelemetry SDK with exporters in memory, registered as an application would.
import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type Histogram,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";

/** One line of the duration histogram. */
export interface Measured {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly count: number;
  readonly sum: number;
  readonly unit: string;
}

export class Sdk {
  readonly #spans = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#spans)] });
  readonly meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: this.#metrics, exportIntervalMillis: 1e9 })],
  });
  readonly tracer = this.tracerProvider.getTracer("test");

  /** Makes it the global one. */
  register(): this {
    Sdk.unregister();
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(this.tracerProvider);
    metrics.setGlobalMeterProvider(this.meterProvider);
    return this;
  }

  static unregister(): void {
    context.disable();
    trace.disable();
    metrics.disable();
  }

  spans(): ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  named(name: string): ReadableSpan[] {
    return this.spans().filter((span) => span.name === name);
  }

  forget(): void {
    this.#spans.reset();
  }

  /** The program's own span around some work. */
  inSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.tracer.startActiveSpan(name, async (span) => {
      try {
        return await work();
      } finally {
        span.end();
      }
    });
  }

  async durations(): Promise<Measured[]> {
    await this.meterProvider.forceFlush();
    const all =
      this.#metrics
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics: found }) => found) ?? [];
    return all
      .filter(({ descriptor }) => descriptor.name === "gen_ai.execute_tool.duration")
      .flatMap(({ dataPoints, descriptor }) =>
        dataPoints.map(({ attributes, value }) => {
          const { count, sum = 0 } = value as Histogram;
          return { attributes, count, sum, unit: descriptor.unit };
        }),
      );
  }
}

export const startMs = ({ startTime: [s, ns] }: ReadableSpan): number => s * 1000 + ns / 1e6;
export const endMs = ({ endTime: [s, ns] }: ReadableSpan): number => s * 1000 + ns / 1e6;
