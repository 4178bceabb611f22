import assert from 'node:assert/strict'

/** One line of the text format. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly type: string
  readonly samples: readonly Sample[]
}

const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`
const SAMPLE = new RegExp(
  String.raw`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(${LABEL}(?:,${LABEL})*)\})? (\S+)$`,
)
const HEAD = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/
const SUFFIXES: Readonly<Record<string, RegExp>> = {
  histogram: /^_(bucket|sum|count)$/,
  summary: /^(|_sum|_count)$/,
}

/**
 * Parses the text format of Prometheus (version 0.0.4). Fails if a line is malformed, if a metric
 * family has no header, is split or repeated, or if its buckets do not add up.
 */
export function readPrometheusText(text: string): ReadonlyMap<string, Family> {
  assert.ok(text.endsWith('\n'), 'the last line must be complete')
  const families = new Map<string, { type: string; samples: Sample[] }>()
  const series = new Set<string>()
  let helped = ''
  let current = ''
  for (const line of text.split(/\n+/).slice(0, -1)) {
    const [, kind, name = '', type = ''] = HEAD.exec(line) ?? []
    if (kind === 'HELP') helped = name
    if (kind === 'TYPE') {
      assert.equal(helped, name, `HELP must come before TYPE: ${name}`)
      assert.equal(families.has(name), false, `a family must not be repeated: ${name}`)
      families.set(name, { type, samples: [] })
      current = name
    }
    if (kind !== undefined) continue
    const key = line.slice(0, line.lastIndexOf(' '))
    assert.equal(series.has(key), false, `a series must not be repeated: ${key}`)
    series.add(key)
    families.get(current)?.samples.push(readSample(line))
  }
  for (const [name, family] of families) checkFamily(name, family)
  return families
}

function checkFamily(name: string, { type, samples }: Family): void {
  assert.match(type, /^(counter|gauge|histogram|summary)$/)
  for (const sample of samples) {
    assert.ok(sample.name.startsWith(name), `${sample.name} must belong to the family ${name}`)
    assert.match(sample.name.slice(name.length), SUFFIXES[type] ?? /^$/)
  }
  if (type === 'counter') assert.match(name, /_total$/)
  if (type === 'histogram') checkBuckets(name, samples)
}

/** The value of the only series with these labels. */
export function readValue(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const family = name.replace(/_(bucket|sum|count)$/, '')
  const samples = families.get(name)?.samples ?? families.get(family)?.samples ?? []
  const found = samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  assert.equal(found.length, 1, `${found.length} series match ${name} ${JSON.stringify(labels)}`)
  return found[0]?.value ?? Number.NaN
}

function readSample(line: string): Sample {
  const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? []
  assert.ok(name, `not a sample: ${line}`)
  const matches = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
  const pairs = matches.map(([, key, text]) => [key, text])
  const names = new Set(pairs.map(([key]) => key))
  assert.equal(names.size, pairs.length, `a label is repeated: ${line}`)
  return { name, labels: Object.fromEntries(pairs), value: readNumber(value) }
}

function readNumber(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  if (text === 'Nan' || text === 'NaN') return Number.NaN
  const value = Number(text)
  assert.ok(Number.isFinite(value), `not a number: ${text}`)
  return value
}

function checkBuckets(name: string, samples: readonly Sample[]): void {
  const of = (sample: Sample) => JSON.stringify(Object.entries({ ...sample.labels, le: '' }).sort())
  for (const ofSeries of Map.groupBy(samples, of).values()) {
    const buckets = ofSeries.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => readNumber(labels['le'] ?? ''))
    const counts = buckets.map(({ value }) => value)
    const ascends = (values: number[]) =>
      values.every((value, at) => value >= (values[at - 1] ?? 0))
    assert.ok(ascends(bounds) && ascends(counts), `the buckets of ${name} must ascend`)
    assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY)
    const count = ofSeries.find((sample) => sample.name === `${name}_count`)
    assert.equal(counts.at(-1), count?.value, `the count of ${name} must equal its last bucket`)
    assert.ok(ofSeries.some((sample) => sample.name === `${name}_sum`))
  }
}
