type Fetch = (request: Request) => Response | Promise<Response>

interface Address {
  readonly hostname: string
  readonly port: number
}

/** What Deno and Bun serve with, of which Node knows nothing. */
interface Natives {
  readonly Deno?: {
    serve(options: Address & { onListen(address: Address): void }, fetch: Fetch): unknown
  }
  readonly Bun?: { serve(options: Address & { fetch: Fetch }): Address }
}

/** Serves `fetch` with what the runtime has for it, and prints the address. */
export async function serveFetch(fetch: Fetch): Promise<void> {
  // safe: what is looked for in it may be missing
  const { Deno, Bun } = globalThis as Natives
  const address = { hostname: '127.0.0.1', port: 0 }
  if (Deno !== undefined) Deno.serve({ ...address, onListen: printUrl }, fetch)
  else if (Bun !== undefined) printUrl(Bun.serve({ ...address, fetch }))
  else {
    const { serve } = await import('@hono/node-server')
    serve({ ...address, fetch }, printUrl)
  }
}

function printUrl({ port }: Pick<Address, 'port'>): void {
  process.stdout.write(`http://127.0.0.1:${port}\n`)
}
