import { METRICS, type Metric } from '../../contract/telemetry/metrics.ts'
import type { Centroids, Span } from './centroids.ts'
import type { Measure, Measures, NewerMetric, Rated } from './measures.ts'
import { meanOf, packChecked, weightOf } from './packed.ts'
import { Sketch } from './sketch.ts'
import { VarintReader, writeVarint } from './varint.ts'

const VERSION = 1

/**
 * Writes measures as varints: the version, then for each metric its index in `METRICS`, its ratings,
 * the number of its centroids, and for each the distance from the previous mean and its weight.
 */
export function encodeMeasures(measures: Measures): Buffer {
  const bytes = [VERSION]
  for (const [index, metric] of METRICS.entries()) {
    const measure = measures[metric]
    if (measure !== undefined) writeMeasure(bytes, index, measure)
  }
  for (const [metric, measure] of Object.entries(measures)) {
    const index = newerIndex(metric)
    if (index !== undefined && measure !== undefined) writeMeasure(bytes, index, measure)
  }
  return Buffer.from(bytes)
}

function writeMeasure(bytes: number[], index: number, measure: Measure): void {
  const { sketch, good, needsImprovement, poor } = measure
  const packed = sketch.packed()
  writeVarint(bytes, index)
  for (const count of [good, needsImprovement, poor, packed.length]) writeVarint(bytes, count)
  let before = 0
  for (const centroid of packed) {
    const mean = meanOf(centroid)
    writeVarint(bytes, mean - before)
    writeVarint(bytes, weightOf(centroid))
    before = mean
  }
}

/** Throws if the bytes have another version or are damaged. */
export function decodeMeasures(bytes: Uint8Array): Measures {
  return readMeasures(bytes, readSketch)
}

/** Measures whose centroids are among many others. */
export type SpanMeasures = Partial<Record<Metric | NewerMetric, Rated<Span>>>

/** Adds the centroids of the measures to `centroids`. Throws as `decodeMeasures` does. */
export function addCentroids(centroids: Centroids, bytes: Uint8Array): SpanMeasures {
  return readMeasures(bytes, (reader, length) => centroids.read(reader, length))
}

/** `readCentroids` reads the centroids of a metric. */
function readMeasures<Distribution>(
  bytes: Uint8Array,
  readCentroids: (reader: VarintReader, length: number) => Distribution,
): Partial<Record<Metric | NewerMetric, Rated<Distribution>>> {
  const reader = new VarintReader(bytes)
  const version = reader.read()
  if (version !== VERSION) throw new Error(`Cannot read a sketch of version ${version}`)
  const measures: Partial<Record<Metric | NewerMetric, Rated<Distribution>>> = {}
  while (reader.left > 0) {
    const metric = metricAt(reader.read())
    const [good, needsImprovement, poor] = [reader.read(), reader.read(), reader.read()]
    const length = reader.read()
    if (length > reader.left) throw new Error('Cannot read a sketch: it ends early')
    measures[metric] = { sketch: readCentroids(reader, length), good, needsImprovement, poor }
  }
  return measures
}

function metricAt(index: number): Metric | NewerMetric {
  return METRICS[index] ?? `newer ${index}`
}

function newerIndex(metric: string): number | undefined {
  return metric.startsWith('newer ') ? Number(metric.slice('newer '.length)) : undefined
}

function readSketch(reader: VarintReader, length: number): Sketch {
  const packed: number[] = []
  let mean = 0
  let n = 0
  for (let at = 0; at < length; at++) {
    mean += reader.read()
    const weight = reader.read()
    packed.push(packChecked(mean, weight))
    n += weight >>> 1
  }
  return new Sketch(packed, n)
}
