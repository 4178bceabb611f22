import { type Measure, type Measures, newMeasure } from './measures.ts'
import { METRICS } from './metrics.ts'
import type { Centroid } from './packed.ts'
import { Sketch } from './sketch.ts'
import { ByteReader, ByteWriter } from './varint.ts'

const VERSION = 1

/**
 * Writes measures as bytes: the version, then for each metric its place in `METRICS`, its ratings
 * and its centroids, each as the distance to the one before and its weight with a bit for `mixed`.
 */
export function encodeMeasures(measures: Measures): Buffer {
  const out = new ByteWriter()
  out.write(VERSION)
  for (const [place, metric] of METRICS.entries()) {
    const measure = measures[metric]
    if (measure === undefined) continue
    out.write(place)
    writeMeasure(out, measure)
  }
  return out.bytes()
}

function writeMeasure(out: ByteWriter, measure: Measure): void {
  const centroids = measure.sketch.centroids()
  out.write(measure.good)
  out.write(measure.needsImprovement)
  out.write(measure.poor)
  out.write(centroids.length)
  let before = 0
  for (const { mean, n, mixed } of centroids) {
    out.write(mean - before)
    out.write(n * 2 + (mixed ? 1 : 0))
    before = mean
  }
}

/** Throws where the bytes are of another version, or none that `encodeMeasures` has written. */
export function decodeMeasures(bytes: Uint8Array): Measures {
  const reader = new ByteReader(bytes)
  const version = reader.read()
  if (version !== VERSION) throw new Error(`Cannot read a sketch of version ${version}`)
  const measures: Measures = {}
  while (!reader.isAtEnd) {
    const metric = METRICS[reader.read()]
    if (metric === undefined) throw new Error('Cannot read a sketch: it has an unknown metric')
    measures[metric] = readMeasure(reader)
  }
  return measures
}

function readMeasure(reader: ByteReader): Measure {
  const [good, needsImprovement, poor] = [reader.read(), reader.read(), reader.read()]
  const centroids: Centroid[] = []
  let mean = 0
  for (let left = reader.read(); left > 0; left--) {
    mean += reader.read()
    const weight = reader.read()
    centroids.push({ mean, n: Math.floor(weight / 2), mixed: weight % 2 === 1 })
  }
  return { ...newMeasure(new Sketch(centroids)), good, needsImprovement, poor }
}
