import { type Measure, type Measures, newMeasure } from './measures.ts'
import { METRICS } from './metrics.ts'
import { joinPacked, splitPacked } from './packed.ts'
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
  const packed = measure.sketch.packed()
  out.write(measure.good)
  out.write(measure.needsImprovement)
  out.write(measure.poor)
  out.write(packed.length)
  let before = 0
  for (const one of packed) {
    const [mean, weight] = splitPacked(one)
    out.write(mean - before)
    out.write(weight)
    before = mean
  }
}

/** Throws where the bytes are of another version, or none that `encodeMeasures` has written. */
export function decodeMeasures(bytes: Uint8Array): Measures {
  const reader = new ByteReader(bytes)
  const version = reader.read()
  if (version !== VERSION) throw new Error(`Cannot read a sketch of version ${version}`)
  const measures: Measures = {}
  while (reader.left > 0) {
    const metric = METRICS[reader.read()]
    if (metric === undefined) throw new Error('Cannot read a sketch: it has an unknown metric')
    measures[metric] = readMeasure(reader)
  }
  return measures
}

function readMeasure(reader: ByteReader): Measure {
  const [good, needsImprovement, poor] = [reader.read(), reader.read(), reader.read()]
  const length = reader.read()
  if (length > reader.left) throw new Error('Cannot read a sketch: it ends early')
  const packed = new Float64Array(length)
  let mean = 0
  let n = 0
  for (let at = 0; at < length; at++) {
    mean += reader.read()
    const weight = reader.read()
    n += Math.floor(weight / 2)
    packed[at] = joinPacked(mean, weight)
  }
  return { ...newMeasure(new Sketch(packed, n)), good, needsImprovement, poor }
}
