import assert from 'node:assert/strict'
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createBackup } from '../../lib/backup/create-backup.ts'
import { restoreBackup } from '../../lib/backup/restore-backup.ts'
import { makeDataFolder } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const AS_ROOT = { skip: process.getuid?.() !== 0 && 'only root can give files away' }
const SERVER = { uid: 65_534, gid: 65_533 }

const folder = tempFolder()
const archive = join(folder, 'ada.tar.gz')
before(async () => {
  const { dataDir } = await makeDataFolder(folder)
  await createBackup({ dataDir, path: archive, now: NOON, geo: [] })
})

/** Files and folders below the data folder, with the owner of each. */
function ownersIn(dataDir: string): Record<string, string> {
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).toSorted()
  const ownerOf = (name: string) => {
    const { uid, gid } = lstatSync(join(dataDir, name))
    return `${uid}:${gid}`
  }
  return Object.fromEntries(names.map((name) => [name, ownerOf(name)]))
}

describe('a restore by root', () => {
  it(
    'leaves all files to the owner of the data folder, as whom the server runs',
    AS_ROOT,
    async () => {
      const dataDir = join(folder, 'served')
      mkdirSync(dataDir, { mode: 0o700 })
      chownSync(dataDir, SERVER.uid, SERVER.gid)
      const owner = `${SERVER.uid}:${SERVER.gid}`
      await restoreBackup({ archive, dataDir, overwrite: false, now: NOON })
      assert.deepEqual(ownersIn(dataDir), {
        'app.db': owner,
        'secrets.json': owner,
        'server.lock': owner,
      })
      const { aside = '' } = await restoreBackup({ archive, dataDir, overwrite: true, now: NOON })
      assert.ok(existsSync(join(aside, 'secrets.json')))
      const owners = Object.entries(ownersIn(dataDir))
      assert.deepEqual(
        owners.filter(([, own]) => own !== owner),
        [],
      )
      assert.equal(owners.length, 6)
    },
  )

  it('keeps files in a folder of its own', AS_ROOT, async () => {
    const dataDir = join(folder, 'new')
    await restoreBackup({ archive, dataDir, overwrite: false, now: NOON })
    assert.deepEqual([...new Set(Object.values(ownersIn(dataDir)))], ['0:0'])
  })
})
