import Stripe from 'stripe'

/** Far more than any answer of Stripe: a page of 100 invoices has about a megabyte. */
const MAX_BYTES = 16 * 1024 * 1024

/**
 * The SDK's client, on `fetch` in every runtime. The SDK expects JSON objects, and ends the process if
 * it gets a string or a number. So an answer that is not from Stripe becomes an error in Stripe's format.
 */
export function createStripeHttp() {
  return Stripe.createFetchHttpClient(fetchAnswer)
}

async function fetchAnswer(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual' })
    const text = await readText(response)
    return isFromStripe(response.status, text) ? copyOf(response, text) : badGateway()
  } catch (error) {
    // Without a `code`, which would make the SDK repeat the call on its own.
    throw init?.signal?.aborted ? error : new Error('The connection failed', { cause: error })
  }
}

/** Stops at the limit. The JSON is then cut off, so parsing it fails. */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    bytes += chunk.length
    if (bytes > MAX_BYTES) break
  }
  return text
}

/** Each object of Stripe has its kind in `object`, and each failed call has an object in `error`. */
function isFromStripe(status: number, text: string): boolean {
  const body = parse(text)
  if (!isObject(body)) return false
  const { object, error } = body
  return status < 300 ? typeof object === 'string' && !error : isObject(error)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function copyOf({ status, headers }: Response, text: string): Response {
  return new Response(text, { status, headers })
}

/** Replaces the answer's own status: 404, for example, would mean that Stripe does not have the object. */
function badGateway(): Response {
  const error = { type: 'api_error', message: 'The answer is not from Stripe' }
  return Response.json({ error }, { status: 502 })
}
