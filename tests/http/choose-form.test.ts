import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chooseForm } from '../../routes/request/serve.ts'

const FORMS = ['application/json', 'text/plain'] as const

describe('chooseForm', () => {
  const choices = [
    ['text/plain', 'text/plain'],
    ['TEXT/PLAIN; charset=utf-8', 'text/plain'],
    ['text/*', 'text/plain'],
    ['text/plain, application/json;q=0.9', 'text/plain'],
    ['application/json;q=0.1, */*', 'text/plain'],
    ['*/*;q=0.1, text/plain', 'text/plain'],
    ['application/json;q=0, text/plain;q=0.001', 'text/plain'],
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/plain, application/json', 'application/json'],
    ['text/plain;q=0.5, application/*', 'application/json'],
    ['text/*, text/plain;q=0, */*;q=0.1', 'application/json'],
    ['text/plain;q=0', 'application/json'],
    ['text/plain;q=2', 'application/json'],
    ['text/plain;q=x', 'application/json'],
    ['image/png', 'application/json'],
    [',;=,', 'application/json'],
  ] as const
  for (const [accept, form] of choices) {
    it(`is ${form} for ${accept}`, () => assert.equal(chooseForm(FORMS, accept), form))
  }

  it('is JSON for an operation without other forms', () => {
    assert.equal(chooseForm(['application/json'], 'text/plain'), 'application/json')
  })
})
