import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { Privacy } from '../../../lib/contract/geo/privacy.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { OPTIONAL } from '../../../lib/geo/files/source-files.ts'
import { downloadLists } from '../../../lib/geo/network-lists/download-lists.ts'
import { addressOf } from '../../support/networks.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openFileServer } from '../download/file-server.ts'
import { openFile } from '../open-file.ts'
import { publishedFiles } from './published.ts'

const SCRIPT = fileURLToPath(new URL('./lists.py', import.meta.url))
const RANDOM_ADDRESSES = 100_000

const Expected = v.record(
  v.string(),
  v.nullable(v.object({ privacy: Privacy, sources: v.array(v.string()) })),
)

describe('the compiled free lists', () => {
  const folder = tempFolder()
  let database: GeoDatabase

  before(async () => {
    await using server = await openFileServer()
    for (const [path, file] of publishedFiles(42)) server.files.set(path, file)
    const options = { mirror: server.origin, acceptSmaller: false, now: 0, onProgress: () => {} }
    const results = await downloadLists(folder, options)
    const refused = results.filter(({ outcome }) => outcome !== 'accepted')
    assert.deepEqual(refused, [])
    database = await openFile(join(folder, OPTIONAL.lists))
  })

  it("state what Python's ipaddress module finds in the lists of the owners", (t) => {
    const args = [SCRIPT, folder, String(RANDOM_ADDRESSES)]
    const printed = execFileSync('python3', args, { maxBuffer: 2 ** 28 })
    const expected = Object.entries(v.parse(Expected, JSON.parse(printed.toString())))
    for (const [text, finding] of expected) {
      assert.deepEqual(database.findPrivacy(addressOf(text)) ?? null, finding, text)
    }
    const listed = expected.filter(([, finding]) => finding !== null).length
    t.diagnostic(`${expected.length} addresses, ${listed} of them listed`)
    assert.ok(expected.length > RANDOM_ADDRESSES && listed > RANDOM_ADDRESSES / 2)
  })
})
