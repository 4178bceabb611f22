import assert from 'node:assert/strict'
import { execFileSync, type StdioOptions } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, it } from 'node:test'
import moment from 'moment-timezone'
import { packedRelease } from '../../../lib/geo/answer/packed-zones.ts'
import { createOffsets, timezoneData, utcOffset } from '../../../lib/geo/answer/timezones.ts'

/** A zone and epoch seconds. */
type Row = readonly [zone: string, times: readonly number[]]

/** Returns the text of an offset at epoch seconds. */
type Ask = (zone: string, time: number) => string | undefined

type Variables = Readonly<Record<string, string>>

const MAX_OUTPUT_BYTES = 2 ** 24

/** Where the compiled zones are; `TZDIR` is the variable that `date` reads. */
const DIRECTORY = process.env['TZDIR'] ?? '/usr/share/zoneinfo'

const PROBE = '[ "$(TZ=Asia/Kathmandu date -d @0 +%:z)" = +05:30 ] && date -f /dev/null'
/** Options of a test that needs `disagreements`. */
const NEEDS_DATE = {
  skip: sh(PROBE, '', { TZDIR: DIRECTORY }) === undefined && 'needs GNU date and tzdata',
}

// Reads lines of a zone and its times; writes a paragraph with the offsets of each, one per line.
const DATE = `while read -r zone times; do
  printf '@%s\\n' $times | TZ="$zone" date -f - "+$FORMAT"
  echo
done`

const ZONES = [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ...systemZones()])]
const SHARED_ZONES = ZONES.filter((zone) => existsSync(`${DIRECTORY}/${zone}`))

// New York and Paris change their clocks at these moments of 2026.
const CHANGES = ['2026-03-08T07:00Z', '2026-03-29T01:00Z', '2026-10-25T01:00Z', '2026-11-01T06:00Z']
const BETWEEN = [at('2027-01-15T00:00Z'), at('2027-07-15T00:00Z')]
const TIMES = [...CHANGES.flatMap((text) => [at(text) - 1, at(text)]), ...BETWEEN]

const PACKED_RELEASE = packedRelease()
const STEP_SECONDS = 20 * 86_400

const ask: Ask = (zone, time) => utcOffset(zone, time * 1000)
const runtime = createOffsets('9999z')

describe('utcOffset', () => {
  it('follows changes of law that are newer than the runtime and the system', () => {
    const now = Date.parse('2026-11-22T00:00Z')
    assert.equal(utcOffset('America/Havana', now), '-04:00')
    assert.equal(utcOffset('America/Winnipeg', now), '-05:00')
  })

  it('agrees with date in every zone on both sides of every transition', NEEDS_DATE, (t) => {
    const release = systemRelease()
    t.diagnostic(`${SHARED_ZONES.length} of ${ZONES.length} zones; the system has ${release}`)
    // Another release may not know the latest changes of law, and may correct a zone's history.
    const [until, allowed] = release === PACKED_RELEASE ? [at('2031'), 0] : [at('2024'), 5]
    const rows = SHARED_ZONES.map((zone): Row => [zone, timesOf(zone, at('2021'), until)])
    const wrong = disagreements(rows, ask, { format: '%:z' })
    assert.ok(zonesIn(wrong).size <= allowed, wrong.join('\n'))
  })

  it('agrees with date about future clock changes in most zones', NEEDS_DATE, () => {
    const rows = SHARED_ZONES.map((zone): Row => [zone, TIMES])
    const wrong = disagreements(rows, ask, { format: '%:z' })
    assert.ok(zonesIn(wrong).size <= ZONES.length / 10, `${wrong}`) // the releases may differ
  })

  it('agrees with Intl in most zones', () => {
    const wrong = ZONES.filter((zone) =>
      TIMES.some((time) => runtime.utcOffset(zone, time * 1000) !== ask(zone, time)),
    )
    assert.ok(wrong.length <= ZONES.length / 10, `${wrong}`) // the releases may differ
  })

  it('changes at the minute of the transition, even if the clock is set back', () => {
    for (const [zone, change, before, after] of [
      ['America/New_York', '2026-03-08T07:00Z', '-05:00', '-04:00'],
      ['America/St_Johns', '2026-03-08T05:30Z', '-03:30', '-02:30'],
      ['Europe/Paris', '2026-10-25T01:00Z', '+02:00', '+01:00'],
    ] as const) {
      const now = Date.parse(change)
      for (const offsets of [{ utcOffset }, runtime]) {
        assert.equal(offsets.utcOffset(zone, now - 1), before)
        assert.equal(offsets.utcOffset(zone, now), after)
        assert.equal(offsets.utcOffset(zone, now - 1), before, 'the clock was set back')
      }
    }
  })

  it('knows offsets of half and quarter hours and writes UTC as +00:00', () => {
    const now = Date.parse('2026-07-01T00:00Z')
    const zones = ['Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham', 'UTC', 'Etc/GMT']
    const expected = ['+05:45', '+10:30', '+12:45', '+00:00', '+00:00']
    for (const offsets of [{ utcOffset }, runtime]) {
      const found = zones.map((zone) => offsets.utcOffset(zone, now))
      assert.deepEqual(found, expected)
    }
  })

  it('drops the seconds of historic offsets', () => {
    for (const offsets of [{ utcOffset }, runtime]) {
      assert.equal(offsets.utcOffset('Africa/Monrovia', 0), '-00:44')
      assert.equal(offsets.utcOffset('Africa/Abidjan', Date.parse('1900-01-01')), '-00:16')
    }
  })

  it('returns undefined for unknown zones, however many are looked up', () => {
    for (const zone of ['', 'Mars/Olympus', '__proto__', 'constructor', 'Europe/Berlin ']) {
      assert.equal(utcOffset(zone, 0), undefined, zone)
      assert.equal(utcOffset(zone, 0), undefined, zone)
    }
    for (let i = 0; i < 3000; i++) assert.equal(utcOffset(`Mars/${i}`, 0), undefined)
    assert.equal(utcOffset('Europe/Berlin', 0), '+01:00')
  })

  it('looks up in Intl a zone that the package lacks', () => {
    const zones = ['europe/rome', 'Europe', 'Africa/Abidjan|LMT GMT']
    const found = zones.map((zone) => utcOffset(zone, 0))
    assert.deepEqual(found, ['+01:00', undefined, undefined])
  })

  it("reads the package's data as the package itself does", () => {
    const times = Array.from({ length: 40 }, (_, step) => Date.parse('1850-01-01') + step * 2.5e11)
    for (const name of moment.tz.names()) {
      const zone = moment.tz.zone(name)
      for (const time of [...times, ...TIMES.map((seconds) => seconds * 1000)]) {
        assert.equal(utcOffset(name, time), textOf(-(zone?.utcOffset(time) ?? Number.NaN)), name)
      }
    }
  })
})

describe('createOffsets', () => {
  it('uses the runtime only if its release is newer than that of the package', () => {
    const packed = { source: 'moment-timezone', release: PACKED_RELEASE }
    assert.match(PACKED_RELEASE, /^20\d\d[a-z]+$/)
    for (const release of [undefined, '1970a', '2026c', PACKED_RELEASE]) {
      assert.deepEqual(createOffsets(release).timezoneData(), packed, release)
    }
    for (const release of [`${PACKED_RELEASE}a`, '2999a']) {
      assert.deepEqual(createOffsets(release).timezoneData(), { source: 'runtime', release })
    }
  })

  it('chooses between the package and the runtime that it runs on', () => {
    assert.deepEqual(timezoneData(), createOffsets(process.versions['tz']).timezoneData())
  })
})

/** Epoch seconds. */
function at(text: string): number {
  return Date.parse(text) / 1000
}

/** A time every twenty days, and both sides of each transition that the package knows. */
function timesOf(zone: string, from: number, until: number): number[] {
  const steps = Math.ceil((until - from) / STEP_SECONDS)
  const times = Array.from({ length: steps }, (_, step) => from + step * STEP_SECONDS)
  const changes = moment.tz.zone(zone)?.untils.map((milliseconds) => milliseconds / 1000) ?? []
  const inside = changes.filter((time) => time >= from && time < until)
  return [...times, ...inside.flatMap((time) => [time - 1, time])]
}

function zonesIn(disagreements: readonly string[]): Set<string | undefined> {
  return new Set(disagreements.map((line) => line.split(' ')[0]))
}

/** An offset in minutes, its seconds dropped, as the API writes it. */
function textOf(minutes: number): string {
  const whole = Math.trunc(minutes)
  const time = new Date(Math.abs(whole) * 60_000).toISOString().slice(11, 16)
  return `${whole < 0 ? '-' : '+'}${time}`
}

/**
 * Lists where the system's `date` prints an offset, in `format`, that `ask` does not return. It
 * prints -00:00 for places without a local time; the API writes +00:00.
 */
function disagreements(
  rows: readonly Row[],
  ask: Ask,
  { format }: { readonly format: string },
): string[] {
  const input = rows.map(([zone, times]) => `${[zone, ...times].join(' ')}\n`).join('')
  const output = sh(DATE, input, { FORMAT: format, TZDIR: DIRECTORY }) ?? ''
  const offsets = output.replace(/^-(?=00:00(?::00)?$)/gm, '+').split('\n\n')
  assert.equal(offsets.length, rows.length)
  return rows.flatMap(([zone, times], row) => {
    const expected = offsets[row]?.split('\n') ?? []
    const wrong = [...times.entries()].filter(([i, time]) => ask(zone, time) !== expected[i])
    return wrong.map(([i, time]) => `${zone} @${time}: ${ask(zone, time)}, date: ${expected[i]}`)
  })
}

/** The release of the system's timezone database, such as 2026f; undefined if not stated. */
function systemRelease(): string | undefined {
  const path = `${DIRECTORY}/tzdata.zi`
  return existsSync(path) ? /\d{4}[a-z]+/.exec(readFileSync(path, 'latin1'))?.[0] : undefined
}

/**
 * The zones of the system. They begin with a capital letter, unlike the copies in posix/ and right/.
 * Factory is not a place: it stands for a clock that nobody has set.
 */
function systemZones(): string[] {
  if (!existsSync(DIRECTORY)) return []
  const names = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })
  const isZone = (name: string) => /^[A-Z]/.test(name) && name !== 'Factory'
  return names.filter((name) => isZone(name) && statSync(`${DIRECTORY}/${name}`).isFile())
}

/** Runs a script and returns its output; undefined if there is no shell or the script fails. */
function sh(script: string, input = '', variables: Variables = {}): string | undefined {
  const stdio: StdioOptions = ['pipe', 'pipe', 'ignore']
  const env = { ...process.env, ...variables }
  const options = { input, stdio, maxBuffer: MAX_OUTPUT_BYTES, env }
  try {
    return execFileSync('sh', ['-c', script], { ...options, encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
