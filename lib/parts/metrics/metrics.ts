import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { RequestTimes } from './request-times.ts'

/** A figure that is measured at each scrape. */
export interface ScrapedMetric {
  /** Name in Prometheus, with the unit. Names that end with `_total` are counters. */
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

interface MetricsOptions {
  readonly scraped: readonly ScrapedMetric[]
  readonly requestTimes: RequestTimes
  /** Called for each metric that fails; the output omits it. */
  readonly onError: (error: unknown, name: string) => void
}

export type Metrics = ReturnType<typeof createMetrics>

/** Collects metrics of the requests, the process and `scraped`. */
export function createMetrics({ scraped, requestTimes, onError }: MetricsOptions) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const metric of scraped) addScraped(registry, metric, onError)
  return {
    contentType: registry.contentType,
    /** All metrics in the text format of Prometheus. */
    text: async () => `${requestTimes.text()}\n${await registry.metrics()}`,
  }
}

/** The methods that counters and gauges share. */
interface Target {
  inc(labels: Sample['labels'], value: number): void
  reset(): void
  remove(): void
}

function addScraped(
  registry: Registry,
  { name, help, labels = [], read }: ScrapedMetric,
  onError: MetricsOptions['onError'],
): void {
  const collect = async () => {
    const samples = await readSamples(read, (error) => onError(error, name))
    // No await from here on: two scrapes may run at the same time.
    metric.reset()
    // Without labels prom-client would report 0, although nothing was measured.
    if (labels.length === 0 && samples.length === 0) metric.remove()
    for (const sample of samples) metric.inc(sample.labels, sample.value)
  }
  const options = { name, help, labelNames: [...labels], registers: [registry], collect }
  const metric: Target = name.endsWith('_total') ? new Counter(options) : new Gauge(options)
}

async function readSamples(
  read: ScrapedMetric['read'],
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
