import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { newDataFolder, runScript, startServer, untilHealthy } from '../support/process.ts'

// run: only on Node.js

/* A start and the doctor on a small disk that is full or read-only: in memory, and ext4 in a file. */

const SIZE = 32 * 1024 * 1024

const { dataDir, settings: folder, remove } = newDataFolder()
const parent = mkdtempSync(join(tmpdir(), 'meridian-disk-'))
const image = join(parent, 'image')
const succeeds = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args).status === 0

const DISKS = {
  tmpfs: (disk: string) => succeeds('mount', '-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', disk),
  ext4: (disk: string) => {
    writeFileSync(image, '')
    truncateSync(image, SIZE)
    return succeeds('mkfs.ext4', '-q', '-F', image) && succeeds('mount', '-o', 'loop', image, disk)
  },
}

before(async () => {
  const server = await startServer(folder)
  // Its last writes stay in the log, which a start moves into the database.
  await server.stop('SIGKILL')
  // A reading process must make it again, which fails on these disks.
  rmSync(join(dataDir, 'app.db-shm'))
})
after(() => {
  rmSync(parent, { recursive: true, force: true })
  remove()
})

for (const [name, mount] of Object.entries(DISKS)) {
  const disk = join(parent, name)
  mkdirSync(disk)
  const isMounted = mount(disk)
  const data = join(disk, 'data')
  const settings = { ...folder, MERIDIAN_DATA_DIR: data, PORT: '0' }
  const doctor = async () => (await runScript(['scripts/doctor.ts'], settings)).stdout
  const start = async () => {
    const { code, stderr } = await runScript(['server.ts'], settings)
    assert.equal(code, 1)
    assert.doesNotMatch(stderr, /npm run restore/)
    return stderr
  }

  describe(`a healthy database on ${name}`, { skip: !isMounted && 'cannot mount it' }, () => {
    before(() => cpSync(dataDir, data, { recursive: true }))
    after(() => spawnSync('umount', [disk]))

    it('gets no advice to restore: start and doctor name the full disk', async () => {
      assert.throws(() => writeFileSync(join(disk, 'rest'), Buffer.alloc(2 * SIZE)), /ENOSPC/)
      const report = await doctor()
      assert.match(report, /wrong +Disk +\d+\.\d kB are free/)
      assert.doesNotMatch(report, /npm run restore/)
      assert.match(
        await start(),
        /^Cannot open .*; \d+\.\d kB are free on the disk of .*: make room/,
      )
      rmSync(join(disk, 'rest'))
    })

    it('gets no advice to restore: start and doctor name the read-only disk', async () => {
      assert.ok(succeeds('mount', '-o', 'remount,ro', disk))
      assert.match(await start(), /^Cannot .*data.*; the disk of .* is read-only: see dmesg/)
      const report = await doctor()
      assert.match(report, /wrong +Disk +The disk is read-only\n +→ see dmesg/)
      assert.doesNotMatch(report, /npm run restore/)
    })

    it('is found healthy, and is served, once the disk can be written', async () => {
      assert.ok(succeeds('mount', '-o', 'remount,rw', disk))
      const server = await startServer(settings)
      await untilHealthy(server)
      await server.stop('SIGTERM')
      assert.match(await doctor(), /ok +Database +.*app\.db is undamaged/)
    })
  })
}
