import type { Context } from 'hono'
import { readText } from '../../../lib/parts/parse.ts'
import type { Env } from '../../context.ts'
import { MAX_BODY_BYTES, messageOf } from '../../request/admit.ts'

/** The fields of a submitted form. */
export type Form = Awaited<ReturnType<typeof readForm>>

/** Reads a form body (application/x-www-form-urlencoded). */
export async function readForm(c: Context<Env>, maxBytes = MAX_BODY_BYTES) {
  const fields = new URLSearchParams(await readText(messageOf(c), maxBytes))
  return {
    /** The value, trimmed; empty if the field is missing. */
    text: (name: string) => (fields.get(name) ?? '').trim(),
    /** The value untrimmed, because spaces belong to a password. */
    exact: (name: string) => fields.get(name) ?? '',
    /** The values of all ticked boxes. */
    all: (name: string) => fields.getAll(name),
    /** All names with their values. */
    entries: () => [...fields],
  }
}

/** The code of the second factor, if the form has a field for it. */
export function codeIn(form: Form, name: string): { readonly code?: string } {
  const code = form.text(name)
  return code === '' ? {} : { code }
}
