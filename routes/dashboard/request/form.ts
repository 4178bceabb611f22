import type { Context } from 'hono'
import { limitBytes, readText } from '../../../lib/parts/parse.ts'
import type { Env } from '../../context.ts'
import { MAX_BODY_BYTES, messageOf } from '../../request/admit.ts'

/** The fields of a submitted form. */
export type Form = Awaited<ReturnType<typeof readForm>>

/** Reads a form body (application/x-www-form-urlencoded). */
export async function readForm(c: Context<Env>, maxBytes = MAX_BODY_BYTES) {
  const text = await readFormText(c, maxBytes)
  limitBytes(Buffer.from(text), maxBytes)
  const fields = new URLSearchParams(text)
  return {
    body: text,
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

/** A body can be read only once, and the first reader may be the one that looks for the id of the form. */
const texts = new WeakMap<Context<Env>, Promise<string>>()

function readFormText(c: Context<Env>, maxBytes: number): Promise<string> {
  const text = texts.get(c) ?? readText(messageOf(c), maxBytes)
  texts.set(c, text)
  return text
}

/** The code of the second factor, if the form has a field for it. */
export function codeIn(form: Form, name: string): { readonly code?: string } {
  const code = form.text(name)
  return code === '' ? {} : { code }
}
