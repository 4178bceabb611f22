import { after, before, describe, it } from 'node:test'
import { type ClientService, runInClient, startClientService } from './parts/client-service.ts'

describe('the Go client', () => {
  let service: ClientService

  before(async () => {
    service = await startClientService()
  })
  after(() => service.stop())

  it('is used by another module and passes its tests', async () => {
    await runInClient('go', ['sh', 'test.sh'], service.environment)
  })
})
