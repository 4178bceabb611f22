import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isSameError, toPageError } from '../../../web/rum/page-error.ts'

describe('toPageError', () => {
  it('copies what the browser reports', () => {
    const error = new TypeError('x is no function')
    error.stack = 'TypeError: x is no function\n    at f (https://shop.example/a.js:3:7)'
    assert.deepEqual(
      toPageError({
        message: 'Uncaught TypeError: x is no function',
        filename: 'https://shop.example/a.js',
        lineno: 3,
        colno: 7,
        error,
      }),
      {
        message: 'Uncaught TypeError: x is no function',
        type: 'TypeError',
        source: 'https://shop.example/a.js',
        line: 3,
        column: 7,
        stack: error.stack,
      },
    )
  })

  it('has only a message if the error comes from another origin', () => {
    const hidden = { message: 'Script error.', filename: '', lineno: 0, colno: 0, error: null }
    assert.deepEqual(toPageError(hidden), { message: 'Script error.' })
  })

  it('accepts any value that a promise is rejected with', () => {
    const messages = [undefined, null, 7, 'no', Symbol('s'), {}, Object.create(null), []].map(
      (error) => toPageError({ error }).message,
    )
    const unknown = 'Unknown error'
    assert.deepEqual(messages, [
      'undefined',
      'null',
      '7',
      'no',
      'Symbol(s)',
      unknown,
      unknown,
      unknown,
    ])
    assert.equal(toPageError({ error: new RangeError('late') }).message, 'late')
  })

  it('drops query strings', () => {
    const error = new Error('a')
    error.stack =
      'Error: a\n    at f (https://shop.example/a.js?token=t:3:7)\n    at https://x.example/#t:1:2'
    const { message, source, stack } = toPageError({
      message: 'Cannot load "https://shop.example/a?token=t" twice?',
      filename: 'https://shop.example/?token=t',
      error,
    })
    assert.equal(message, 'Cannot load "https://shop.example/a" twice?')
    assert.equal(source, 'https://shop.example/')
    assert.equal(
      stack,
      'Error: a\n    at f (https://shop.example/a.js:3:7)\n    at https://x.example/:1:2',
    )
  })

  it('gives equal errors for the same message at the same place', () => {
    const error = { message: 'a', source: 'b', line: 1, column: 2 }
    assert.ok(isSameError(error, { ...error, stack: 'other' }))
    assert.ok(!isSameError(error, { ...error, column: 3 }))
  })
})
