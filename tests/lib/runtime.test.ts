import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkRuntime } from '../../lib/runtime.ts'

describe('checkRuntime', () => {
  it('takes the runtime of these tests and newer ones', () => {
    for (const node of [process.versions.node, '22.0.0', '24.1.0', '100.0.0'])
      checkRuntime({ node })
  })

  it('refuses older ones and says what to do', () => {
    for (const node of ['20.20.0', '21.9.9', '9.0.0', '']) {
      assert.throws(() => checkRuntime({ node }), /^Error: Cannot run on Node\.js .* npm ci /)
    }
    assert.throws(() => checkRuntime({}), /version 22 or newer/)
  })
})
