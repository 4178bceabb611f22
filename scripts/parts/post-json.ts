import * as v from 'valibot'

/** Sends `body` as JSON and returns the parsed answer. Throws unless the status is a success. */
export async function postJson<Schema extends v.GenericSchema>(
  url: string,
  body: object,
  schema: Schema,
  headers: Readonly<Record<string, string>> = {},
): Promise<v.InferOutput<Schema>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`)
  return v.parse(schema, JSON.parse(text))
}
