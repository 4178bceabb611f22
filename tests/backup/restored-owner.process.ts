import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createBackup } from '../../lib/backup/create-backup.ts'
import { makeDataFolder } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { runScript } from '../support/process.ts'
import { IS_DENO, mayBecomeNobody, NOBODY } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

const skip = !mayBecomeNobody() && 'needs root, and a runtime that every user may run'
const NEEDS_GROUPS = { skip: IS_DENO && 'Deno lacks process.setgroups' }
/** The user of the server, whose group has another number. */
const SERVER = { uid: NOBODY, gid: 65_533 }
const OWNER = `${SERVER.uid}:${SERVER.gid}`

const folder = tempFolder()
const archive = join(folder, 'ada.tar.gz')
before(async () => {
  const { dataDir } = await makeDataFolder(folder)
  await createBackup({ dataDir, path: archive, now: NOON, geo: [] })
  chmodSync(folder, 0o711)
  giveToServer(archive)
})

function giveToServer(path: string): void {
  chownSync(path, SERVER.uid, SERVER.gid)
}

function makeServersFolder(name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { mode: 0o700 })
  giveToServer(path)
  return path
}

function restore(dataDir: string, from = archive) {
  return runScript(['scripts/restore.ts', from, '--overwrite'], { MERIDIAN_DATA_DIR: dataDir })
}

/** Files and folders below `dataDir`, with the owner of each. */
function ownersIn(dataDir: string): Record<string, string> {
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).toSorted()
  const ownerOf = (name: string) => {
    const { uid, gid } = lstatSync(join(dataDir, name))
    return `${uid}:${gid}`
  }
  return Object.fromEntries(names.map((name) => [name, ownerOf(name)]))
}

const AS_OWNER = new RegExp(`^Running as user ${NOBODY}, the owner of the data folder\n`)

describe('a restore by root', { skip }, () => {
  it(
    'leaves all files to the owner of the data folder, as whom the server runs',
    NEEDS_GROUPS,
    async () => {
      const dataDir = makeServersFolder('served')
      const first = await restore(dataDir)
      assert.equal(first.code, 0, first.stderr)
      assert.match(first.stderr, AS_OWNER)
      const restored = { 'app.db': OWNER, 'secrets.json': OWNER, 'server.lock': OWNER }
      assert.deepEqual(ownersIn(dataDir), restored)
      const second = await restore(dataDir)
      assert.match(second.stderr, /^The previous files are in .*before-restore-/m)
      const owners = Object.values(ownersIn(dataDir))
      assert.deepEqual(owners, Array(6).fill(OWNER))
    },
  )

  it('gives a new data folder to the owner of the folder around it', NEEDS_GROUPS, async () => {
    const parent = makeServersFolder('home')
    const { code, stderr } = await restore(join(parent, 'meridian', 'data'))
    assert.equal(code, 0, stderr)
    assert.deepEqual([...new Set(Object.values(ownersIn(parent)))], [OWNER])
  })

  it('keeps files in a folder of its own', async () => {
    const dataDir = join(folder, 'new')
    const { code, stderr } = await restore(dataDir)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^Restored /)
    assert.deepEqual([...new Set(Object.values(ownersIn(dataDir)))], ['0:0'])
  })

  it('may do only what the owner of the data folder may', async () => {
    const dataDir = makeServersFolder('hostile')
    const others = join(folder, 'others')
    mkdirSync(others, { mode: 0o700 })
    symlinkSync(join(others, 'made'), join(dataDir, 'server.lock'))
    const linked = await restore(dataDir)
    assert.deepEqual(readdirSync(others), [])
    assert.equal(linked.code, 1, linked.stderr)
  })

  // https://github.com/denoland/deno/issues/35073
  it('is refused on Deno, which cannot leave the groups of root', {
    skip: !IS_DENO && 'is about Deno',
  }, async () => {
    const { code, stderr } = await restore(makeServersFolder('of-deno'))
    assert.equal(code, 1)
    assert.match(stderr, /^Cannot run as user 65534, .*; run the command as that user\n$/)
  })

  it('needs an archive that the owner of the data folder may read', NEEDS_GROUPS, async () => {
    const closed = join(folder, 'closed.tar.gz')
    writeFileSync(closed, '', { mode: 0o600 })
    const { code, stderr } = await restore(makeServersFolder('waiting'), closed)
    assert.equal(code, 1)
    assert.match(stderr.replace(AS_OWNER, ''), /^Cannot use the backup .*: EACCES: /)
  })

  for (const [name, advice] of [
    ['server.lock', /who owns \S+server\.lock\n$/],
    ['app.db', /app\.db: EPERM: .*; change the owner of that file to this user\n$/],
  ] as const) {
    it(
      `refuses a file that root made earlier, which no server could open: ${name}`,
      NEEDS_GROUPS,
      async () => {
        const dataDir = makeServersFolder(`after-root-${name}`)
        writeFileSync(join(dataDir, name), '', { mode: 0o600 })
        const refused = await restore(dataDir)
        assert.equal(refused.code, 1, refused.stderr)
        assert.match(refused.stderr, advice)
        giveToServer(join(dataDir, name))
        const { code, stderr } = await restore(dataDir)
        assert.equal(code, 0, stderr)
      },
    )
  }
})
