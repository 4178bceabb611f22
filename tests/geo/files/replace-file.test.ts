import assert from 'node:assert/strict'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGunzip, gzipSync } from 'node:zlib'
import {
  removeAbandoned,
  removeOthers,
  replaceFile,
  writeStream,
} from '../../../lib/geo/files/replace-file.ts'
import { HOUR_MS } from '../../../lib/parts/durations.ts'
import { assertMode, ON_POSIX } from '../../support/runtime.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'meridian-swap-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const inFolder = (name: string) => join(folder, name)
const replaceBy = (text: string, directory = folder) =>
  replaceFile(directory, 'a.mmdb', (partial) => writeFile(partial, text))

describe('replaceFile', () => {
  it('makes the folder and a read-only file', async () => {
    const directory = inFolder('new/geo')
    const path = await replaceBy('one', directory)
    assert.equal(path, join(directory, 'a.mmdb'))
    assert.equal(readFileSync(path, 'utf8'), 'one')
    assertMode(path, 0o400)
    assert.deepEqual(readdirSync(directory), ['a.mmdb'])
  })

  it('shows the old file until the new one is whole', async () => {
    const path = await replaceBy('one')
    await replaceFile(folder, 'a.mmdb', async (partial) => {
      await writeFile(partial, 'tw')
      assert.equal(readFileSync(path, 'utf8'), 'one')
      await writeFile(partial, 'two')
    })
    assert.equal(readFileSync(path, 'utf8'), 'two')
  })

  it('keeps the old bytes for readers that have the old file open', ON_POSIX, async () => {
    const path = await replaceBy('one')
    const opened = openSync(path, 'r')
    await replaceBy('two')
    assert.equal(readFileSync(opened, 'utf8'), 'one')
    closeSync(opened)
  })

  it('keeps the old file and no part of the new one if writing fails', async () => {
    const path = await replaceBy('one')
    const failing = replaceFile(folder, 'a.mmdb', async (partial) => {
      await writeFile(partial, 'tw')
      throw new Error('disk full')
    })
    await assert.rejects(failing, { message: 'disk full' })
    assert.equal(readFileSync(path, 'utf8'), 'one')
    assert.deepEqual(readdirSync(folder), ['a.mmdb'])
  })

  it('fails if nothing is written', async () => {
    const nothing = replaceFile(folder, 'a.mmdb', async () => {})
    await assert.rejects(nothing, { code: 'ENOENT' })
    assert.deepEqual(readdirSync(folder), [])
  })

  it('can replace one file many times at once', async () => {
    const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`)
    await Promise.all(texts.map((text) => replaceBy(text)))
    assert.ok(texts.includes(readFileSync(inFolder('a.mmdb'), 'utf8')))
    assert.deepEqual(readdirSync(folder), ['a.mmdb'])
  })
})

describe('removeOthers', () => {
  it('can remove the same files many times at once', async () => {
    for (let version = 0; version < 20; version++) writeFileSync(inFolder(`a-${version}`), '')
    const remove = async (turns: number) => {
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      await removeOthers(folder, { prefix: 'a-', name: 'a-7' })
    }
    await Promise.all(Array.from({ length: 20 }, (_, at) => remove(at)))
    assert.deepEqual(readdirSync(folder), ['a-7'])
  })
})

describe('writeStream', () => {
  it('writes through transforms', async () => {
    await writeStream(inFolder('a'), Readable.from([gzipSync('text')]), createGunzip())
    assert.equal(readFileSync(inFolder('a'), 'utf8'), 'text')
  })

  it('rejects if a transform fails', async () => {
    const half = gzipSync('text').subarray(0, 10)
    const writing = writeStream(inFolder('a'), Readable.from([half]), createGunzip())
    await assert.rejects(writing, { code: 'Z_BUF_ERROR' })
  })
})

describe('removeAbandoned', () => {
  const partial = '.partial-0a1b2c3d0a1b2c3d-a.mmdb'

  it('keeps a partial file until nobody has written to it for hours', (t) => {
    writeFileSync(inFolder(partial), '')
    utimesSync(inFolder(partial), 0, 0)
    removeAbandoned(folder)
    assert.deepEqual(readdirSync(folder), [partial])
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 7 * HOUR_MS })
    removeAbandoned(folder)
    assert.deepEqual(readdirSync(folder), [])
  })

  it('removes nothing else', (t) => {
    const kept = ['.download-a.tar.gz', '.partial-x', 'a.mmdb']
    for (const name of kept) writeFileSync(inFolder(name), '')
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 7 * HOUR_MS })
    removeAbandoned(folder)
    assert.deepEqual(readdirSync(folder).toSorted(), kept)
  })

  it('accepts a missing folder', () => {
    removeAbandoned(inFolder('missing'))
    assert.deepEqual(readdirSync(folder), [])
  })
})
