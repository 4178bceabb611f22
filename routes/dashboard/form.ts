import type { Context } from 'hono'
import { readText } from '../../lib/parse.ts'
import { MAX_BODY_BYTES } from '../admit.ts'
import type { Env } from '../context.ts'

/** The fields of a form as they were typed. */
export interface Form {
  /** Without blanks around it; empty where there is none. */
  text(name: string): string
  /** As it is: blanks belong to a password. */
  exact(name: string): string
  /** All that are ticked. */
  all(name: string): string[]
}

/** Reads a form as browsers send it, application/x-www-form-urlencoded. */
export async function readForm(c: Context<Env>, maxBytes = MAX_BODY_BYTES): Promise<Form> {
  const fields = new URLSearchParams(await readText(c.req.raw, maxBytes))
  return {
    text: (name) => (fields.get(name) ?? '').trim(),
    exact: (name) => fields.get(name) ?? '',
    all: (name) => fields.getAll(name),
  }
}
