import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it, mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MINUTE_MS } from '../../../lib/parts/durations.ts'
import { availableMemory } from '../../../lib/parts/process/available-memory.ts'
import { createGeoJobs } from '../../../lib/parts/process/geo-jobs.ts'
import { recordingLog } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const MB = 1024 * 1024
const SYSTEM = { 'proc/meminfo': `MemTotal: 8388608 kB\nMemAvailable: ${4096 * 1024} kB\n` }
/** Of 250 MB that are not in use only 50 MB are free; the rest holds pages of files. */
const STAT = `anon ${200 * MB}\nactive_file 0\ninactive_file ${200 * MB}\n`

/** Available MB on a system with these files. `free`: MB that the runtime reports as free. */
function availableMb(files: Readonly<Record<string, string>>, free = 50): number {
  const root = tempFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const { mock: runtime } = mock.method(process, 'availableMemory', () => free * MB)
  try {
    return availableMemory(root) / MB
  } finally {
    runtime.restore()
  }
}

describe('the available memory', () => {
  it('includes the pages of files that fill the memory of a container', () => {
    const [first, container] = ['5:cpu,cpuacct:/\n4:memory:/docker/a1\n', '4:memory:/docker/a1\n']
    for (const [groups, stat] of [
      ['0::/\n', 'memory.stat'],
      ['0::/system.slice/meridian.service\n', 'system.slice/meridian.service/memory.stat'],
      [`${first}0::/\n`, 'memory/docker/a1/memory.stat'],
      [`${container}0::/\n`, 'memory/memory.stat'],
    ] as const) {
      const own = { 'proc/self/cgroup': groups, [`sys/fs/cgroup/${stat}`]: STAT }
      assert.equal(availableMb({ ...SYSTEM, ...own }), 250)
    }
  })

  it('is never more than the system has', () => {
    const files = { 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/memory.stat': STAT }
    assert.equal(availableMb({ ...SYSTEM, ...files }, 4000), 4096)
  })

  it('is what the runtime says on other systems', () => {
    assert.equal(availableMb({}), 50)
  })
})

it('the databases are combined once there is memory for it, and its lack is logged once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const log = recordingLog()
  let available = 256e6
  let isDone = false
  const ended = AbortSignal.abort()
  const jobs = createGeoJobs(log, ended, () => available)
  const combined = jobs.compileAtlas().then(() => {
    isDone = true
  })
  for (let minute = 0; minute < 3; minute++) {
    t.mock.timers.tick(MINUTE_MS)
    await nextTurn()
  }
  assert.equal(isDone, false)
  const message = 'waiting for memory to combine the databases into one index; look-ups are slower'
  const fields = { availableMb: 256, neededMb: 300 }
  assert.deepEqual(log.events, [{ level: 'info', fields, message }])
  available = 300e6
  t.mock.timers.tick(MINUTE_MS)
  await combined
})
