// Traces and durations of tool calls, and of the wait for a human, with OpenTelemetry. The exporters write to memory; yours send to
// a collector. Checks itself.

import { deepEqual } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { approve, CallbackApproval, Executor, MemoryLedger, Registry } from "agent-adapter";
import { OpenTelemetryHook } from "agent-adapter/opentelemetry";
import { z } from "zod";

// What your program does once at its start, with exporters of its own.
const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
metrics.setGlobalMeterProvider(new MeterProvider());
const tracer = trace.getTracer("shop");

const registry = new Registry();
const approval = new CallbackApproval(async () => {
  await sleep(50); // she reads it
  return approve({ by: "ana" });
});

// region: hook
const tracing = new OpenTelemetryHook();
const executor = new Executor(registry, {
  approval,
  hooks: [tracing], // first, so that it hears of what other hooks refuse
  ledger: tracing.ledger(new MemoryLedger()), // and of calls that no hook hears of
});
// endregion

// region: body
const pay = registry.tool({
  name: "pay",
  description: "Pay an invoice.",
  inputSchema: z.object({ invoice: z.string() }),
  confirm: true,
  effects: "destructive",
  execute: ({ invoice }) => tracing.inSpan(() => postToBank(invoice)),
});
// endregion

function postToBank(invoice: string): Promise<string> {
  return tracer.startActiveSpan("POST /payments", async (span) => {
    await sleep(5);
    span.end();
    return `paid ${invoice}`;
  });
}

await tracer.startActiveSpan("agent", async (span) => {
  await executor.run(pay, { invoice: "7" });
  await executor.run("pay", {}).catch(() => undefined);
  span.end();
});

const spans = exporter.getFinishedSpans();
const nameOf = (id: string | undefined) => spans.find((span) => span.spanContext().spanId === id)?.name ?? "-";
for (const { name, parentSpanContext, attributes } of spans) {
  const error = attributes["error.type"] === undefined ? "" : `  ${JSON.stringify(attributes["error.type"])}`;
  console.log(`  ${name.padEnd(24)}in ${nameOf(parentSpanContext?.spanId)}${error}`);
}
deepEqual(
  spans.map(({ name, parentSpanContext }) => [name, nameOf(parentSpanContext?.spanId)]),
  [
    ["wait_for_approval pay", "agent"],
    ["POST /payments", "execute_tool pay"],
    ["execute_tool pay", "agent"],
    ["execute_tool pay", "agent"],
    ["agent", "-"],
  ],
);
