import assert from 'node:assert/strict'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { operatorFiles } from '../../lib/geo/files/source-files.ts'
import { type Library, openLibrary } from '../../lib/geo/library.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { silentLog } from '../../lib/parts/log/log.ts'
import { mmdbBytes } from '../support/geo-files.ts'
import { tempFolder } from '../support/temp-folder.ts'

const parent = tempFolder()
const START = Date.UTC(2026, 0, 15)
let count = 0
let directory: string
let file: string
let time: number

beforeEach(() => {
  time = START
  const folder = join(parent, String(count++))
  directory = join(folder, 'geo')
  mkdirSync(directory, { recursive: true })
  file = join(folder, 'mine.mmdb')
})

const databaseOf = (iso_code: string) => mmdbBytes({ '1.2.3.0/24': { country: { iso_code } } })

function open(): Promise<Library> {
  return openLibrary({
    findFiles: () => operatorFiles(directory, [file]),
    map: true,
    cacheBits: 8,
    regionCode: () => undefined,
    log: silentLog,
    now: () => time,
    clock: () => time,
  })
}

/** A changed file is opened once two refreshes in a row have found it the same. */
async function refreshTwice(library: Library): Promise<void> {
  await library.refresh()
  await library.refresh()
}

/** What the library knows of its file. */
function stateOf(library: Library) {
  const [{ openedAt, refusal, isEarlier } = {}] = library.files()
  return { openedAt, refusal, isEarlier }
}

describe('the files of a library', () => {
  it('show when a version was opened, and when and why the next one was refused', async () => {
    writeFileSync(file, databaseOf('DE'))
    const library = await open()
    assert.deepEqual(stateOf(library), { openedAt: START, refusal: undefined, isEarlier: false })
    time += MINUTE_MS
    writeFileSync(file, 'no database')
    await refreshTwice(library)
    const { openedAt, refusal, isEarlier } = stateOf(library)
    assert.deepEqual([openedAt, refusal?.at, isEarlier], [START, START + MINUTE_MS, true])
    assert.match(refusal?.reason ?? '', /metadata/)
    time = START + HOUR_MS
    writeFileSync(file, databaseOf('GB'))
    await refreshTwice(library)
    assert.deepEqual(stateOf(library), { openedAt: time, refusal, isEarlier: false })
  })

  it('show that an earlier version has been served since the start', async () => {
    writeFileSync(file, databaseOf('DE'))
    await open()
    time += MINUTE_MS
    writeFileSync(file, 'no database')
    const { openedAt, refusal, isEarlier } = stateOf(await open())
    assert.deepEqual([openedAt, refusal?.at, isEarlier], [time, time, true])
  })

  it('are current again once the served version is back in its place', async () => {
    writeFileSync(file, databaseOf('DE'))
    const library = await open()
    renameSync(file, `${file}.kept`)
    await refreshTwice(library)
    assert.equal(stateOf(library).isEarlier, true)
    renameSync(`${file}.kept`, file)
    await refreshTwice(library)
    const { refusal, isEarlier } = stateOf(library)
    assert.equal(isEarlier, false)
    assert.match(refusal?.reason ?? '', /ENOENT/)
  })
})
