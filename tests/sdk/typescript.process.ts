import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runScript } from '../support/process.ts'
import { withClientService } from './parts/client-service.ts'

describe('the TypeScript client', () => {
  const environment = withClientService()

  it('runs on each runtime on which the service does', async () => {
    const script = 'sdk/typescript/test/parts/first-look-up.ts'
    const { code, stdout, stderr } = await runScript([script, '81.2.69.160'], environment())
    assert.equal(code, 0, stderr)
    assert.equal(stdout, 'London\n')
  })
})
