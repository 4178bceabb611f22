import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createGunzip, gzipSync } from 'node:zlib'
import { removeAbandoned, replaceFile, writeStream } from '../../../lib/geo/file-swap.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'meridian-swap-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const inFolder = (name: string) => join(folder, name)

describe('replaceFile', () => {
  it('makes the folder and a read-only file', async () => {
    const directory = inFolder('new/geo')
    const path = await replaceFile(directory, 'a.mmdb', (partial) => writeFile(partial, 'one'))
    assert.equal(path, join(directory, 'a.mmdb'))
    assert.equal(readFileSync(path, 'utf8'), 'one')
    assert.equal(statSync(path).mode & 0o777, 0o444)
    assert.deepEqual(readdirSync(directory), ['a.mmdb'])
  })

  it('shows the old file until the new one is whole', async () => {
    const path = await replaceFile(folder, 'a.mmdb', (partial) => writeFile(partial, 'one'))
    await replaceFile(folder, 'a.mmdb', async (partial) => {
      await writeFile(partial, 'tw')
      assert.equal(readFileSync(path, 'utf8'), 'one')
      await writeFile(partial, 'two')
    })
    assert.equal(readFileSync(path, 'utf8'), 'two')
  })

  it('leaves the old bytes to those who have them open', async () => {
    const path = await replaceFile(folder, 'a.mmdb', (partial) => writeFile(partial, 'one'))
    const opened = openSync(path, 'r')
    await replaceFile(folder, 'a.mmdb', (partial) => writeFile(partial, 'two'))
    assert.equal(readFileSync(opened, 'utf8'), 'one')
    closeSync(opened)
  })

  it('keeps the old file and no part of the new one when writing fails', async () => {
    const path = await replaceFile(folder, 'a.mmdb', (partial) => writeFile(partial, 'one'))
    const failing = replaceFile(folder, 'a.mmdb', async (partial) => {
      await writeFile(partial, 'tw')
      throw new Error('disk full')
    })
    await assert.rejects(failing, { message: 'disk full' })
    assert.equal(readFileSync(path, 'utf8'), 'one')
    assert.deepEqual(readdirSync(folder), ['a.mmdb'])
  })

  it('fails where nothing is written', async () => {
    await assert.rejects(
      replaceFile(folder, 'a.mmdb', async () => {}),
      { code: 'ENOENT' },
    )
    assert.deepEqual(readdirSync(folder), [])
  })

  it('can replace one file many times at once', async () => {
    const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`)
    await Promise.all(
      texts.map((text) => replaceFile(folder, 'a.mmdb', (partial) => writeFile(partial, text))),
    )
    assert.ok(texts.includes(readFileSync(inFolder('a.mmdb'), 'utf8')))
    assert.deepEqual(readdirSync(folder), ['a.mmdb'])
  })
})

describe('writeStream', () => {
  it('writes through transforms', async () => {
    await writeStream(inFolder('a'), Readable.from([gzipSync('text')]), createGunzip())
    assert.equal(readFileSync(inFolder('a'), 'utf8'), 'text')
  })

  it('rejects what a transform refuses', async () => {
    const half = gzipSync('text').subarray(0, 10)
    await assert.rejects(writeStream(inFolder('a'), Readable.from([half]), createGunzip()), {
      code: 'Z_BUF_ERROR',
    })
  })
})

describe('removeAbandoned', () => {
  const ended = spawnSync(process.execPath, ['--version']).pid

  it('removes partial files of processes that have ended, and nothing else', async () => {
    const kept = [
      '.download-a.tar.gz',
      `.partial-${process.pid}-0a1b2c3d-a.mmdb`,
      `.partial-${process.ppid}-0a1b2c3d-a.mmdb`,
      '.partial-x',
      'a.mmdb',
    ]
    for (const name of [...kept, `.partial-${ended}-0a1b2c3d-a.mmdb`]) {
      writeFileSync(inFolder(name), '')
    }
    await removeAbandoned(folder)
    assert.deepEqual(readdirSync(folder).toSorted(), kept.toSorted())
  })

  it('removes a partial file of hours ago, since the number of its process may be taken', async () => {
    const path = inFolder(`.partial-${process.pid}-0a1b2c3d-a.mmdb`)
    writeFileSync(path, '')
    const sevenHoursAgo = Date.now() / 1000 - 7 * 3600
    utimesSync(path, sevenHoursAgo, sevenHoursAgo)
    await removeAbandoned(folder)
    assert.deepEqual(readdirSync(folder), [])
  })

  it('does nothing where there is no folder', async () => {
    await removeAbandoned(inFolder('missing'))
    assert.deepEqual(readdirSync(folder), [])
  })
})
