import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { RequestTimes } from './request-times.ts'

/** A figure that is measured when somebody asks for it. */
export interface Measure {
  /** In the words of Prometheus, with its unit; what ends with `_total` is a counter. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  readonly read: () => Reading | Promise<Reading>
}

/** One value, or one for each set of labels. */
export type Reading = number | readonly Sample[]

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface MetricsOptions {
  readonly measures: readonly Measure[]
  readonly requestTimes: RequestTimes
  /** Told of what could not be measured; it is left out, and the rest is told all the same. */
  readonly onError: (error: unknown, name: string) => void
}

export interface Metrics {
  readonly contentType: string
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>
}

/** What Prometheus reads: requests, the process, and `measures`. */
export function createMetrics({ measures, requestTimes, onError }: MetricsOptions): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const measure of measures) addMeasure(registry, measure, onError)
  return {
    contentType: registry.contentType,
    text: async () => `${requestTimes.text()}\n${await registry.metrics()}`,
  }
}

/** What is set with each scrape; counters and gauges have it alike. */
interface Target {
  inc(labels: Sample['labels'], value: number): void
  reset(): void
  remove(): void
}

function addMeasure(
  registry: Registry,
  { name, help, labels = [], read }: Measure,
  onError: MetricsOptions['onError'],
): void {
  const collect = async () => {
    const samples = await readSamples(read, (error) => onError(error, name))
    // All at once, since two may scrape at the same time.
    metric.reset()
    // Without a label prom-client begins with 0, which nobody has measured.
    if (labels.length === 0 && samples.length === 0) metric.remove()
    for (const sample of samples) metric.inc(sample.labels, sample.value)
  }
  const options = { name, help, labelNames: [...labels], registers: [registry], collect }
  const metric: Target = name.endsWith('_total') ? new Counter(options) : new Gauge(options)
}

async function readSamples(
  read: Measure['read'],
  onError: (error: unknown) => void,
): Promise<readonly Sample[]> {
  try {
    const reading = await read()
    return typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading
  } catch (error) {
    onError(error)
    return []
  }
}
