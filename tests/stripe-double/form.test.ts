import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Form, parseForm } from '../../stripe-double/http/form.ts'

const Name = fc.stringMatching(/^[a-z_]{1,8}$/)

const { form: AnyForm } = fc.letrec<{ form: Form; value: Form[string] }>((tie) => ({
  form: fc.dictionary(Name, tie('value'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
    tie('form'),
  ),
}))

describe('parseForm', () => {
  it('parses any form that is written with brackets', () => {
    fc.assert(fc.property(AnyForm, (form) => assert.deepEqual(parseForm(write(form)), form)))
  })

  it('treats __proto__ as an ordinary name', () => {
    const form = parseForm('metadata[__proto__]=x&__proto__[polluted]=y')
    assert.equal(Object.hasOwn(form, '__proto__'), true)
    assert.equal('polluted' in {}, false)
  })
})

function write(form: Form): string {
  const params = new URLSearchParams()
  const put = (name: string, value: Form[string]) => {
    if (typeof value === 'string') params.append(name, value)
    else for (const [key, child] of Object.entries(value)) put(`${name}[${key}]`, child)
  }
  for (const [name, value] of Object.entries(form)) put(name, value)
  return params.toString()
}
