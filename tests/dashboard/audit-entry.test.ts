import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ActionSelect } from '../../pages/dashboard/audit/action-select.tsx'
import { AuditEntry } from '../../pages/dashboard/audit/audit-entry.tsx'

describe('an entry of the audit log', () => {
  const entry = {
    id: 1,
    actor_id: 'user-1',
    actor_label: null,
    action: 'subscription_updated',
    target_type: null,
    target_id: null,
    detail: null,
    created_at: 1_768_478_400,
  }

  it('names Stripe, not the id of the user, for what Stripe did', () => {
    assert.match(String(AuditEntry({ entry: { ...entry, app: 'stripe' } })), /by <bdi>Stripe</)
    assert.match(String(AuditEntry({ entry: { ...entry, app: 'cli' } })), /by <bdi>user-1</)
  })
})

describe('the choice of an action', () => {
  it('is in the order of what it shows', () => {
    const html = String(ActionSelect({ chosen: '' }))
    const [all, ...labels] = [...html.matchAll(/<option[^>]*>([^<]*)/g)].map(([, text]) => text)
    assert.equal(all, 'All actions')
    assert.ok(labels.length > 50)
    assert.deepEqual(
      labels,
      labels.toSorted((one = '', other = '') => one.localeCompare(other)),
    )
  })
})
