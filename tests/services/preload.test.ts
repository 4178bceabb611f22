import assert from 'node:assert/strict'
import { it } from 'node:test'
import { once } from '../../lib/parts/once.ts'
import { preload } from '../../lib/services/preload.ts'
import { recordingLog } from '../support/helpers.ts'

it('what cannot be loaded ahead is logged, and loaded on its first use', async () => {
  const log = recordingLog()
  const loaded: string[] = []
  let tries = 0
  const first = once(async () => {
    tries += 1
    if (tries === 1) throw new Error('EMFILE')
    loaded.push('first')
  })
  const second = once(async () => loaded.push('second'))
  await preload([first, second], log)
  assert.deepEqual(loaded, ['second'])
  assert.equal(log.events.length, 1)
  await first()
  await second()
  assert.deepEqual(loaded, ['second', 'first'])
})
