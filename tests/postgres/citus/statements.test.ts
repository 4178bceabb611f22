import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { splitStatements } from '../../../lib/postgres/citus/statements.ts'

describe('splitStatements', () => {
  it('splits at the semicolons between statements, and drops comments alone', () => {
    assert.deepEqual(splitStatements('SELECT 1;\n\n-- no; more\nSELECT 2 ;; -- end;\n/* a; b */'), [
      'SELECT 1',
      '-- no; more\nSELECT 2',
    ])
    assert.deepEqual(splitStatements(''), [])
  })

  it('keeps semicolons in texts, names and bodies of functions', () => {
    const statements = [
      `INSERT INTO a VALUES ('it''s; one', ';')`,
      'SELECT "a;b"',
      'CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN a := 1; RETURN NULL; END $$',
      'CREATE FUNCTION g() RETURNS text AS $body$ SELECT $$;$$; $body$',
    ]
    assert.deepEqual(splitStatements(`${statements.join(';\n')};`), statements)
  })
})
