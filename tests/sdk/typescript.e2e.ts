import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { runScript } from '../support/process.ts'
import { type ClientService, startClientService } from './parts/client-service.ts'

describe('the TypeScript client', () => {
  let service: ClientService
  before(async () => {
    service = await startClientService()
  })
  after(() => service.stop())

  it('runs on each runtime on which the service does', async () => {
    const script = 'sdk/typescript/test/parts/first-look-up.ts'
    const { code, stdout, stderr } = await runScript([script, '81.2.69.160'], service.environment)
    assert.equal(code, 0, stderr)
    assert.equal(stdout, 'London\n')
  })
})
