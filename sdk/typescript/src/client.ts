import { NOT_AN_ADDRESS, parseAddress } from './address.ts'
import type { CacheOptions } from './block-cache.ts'
import { MeridianError } from './error.ts'
import { type Asked, KnownAnswers, unlessEmpty } from './known-answers.ts'
import { locateList } from './list.ts'
import { type Call, type Service, send } from './send.ts'
import type {
  AddressSummary,
  AutonomousSystem,
  BatchError,
  CallOptions,
  GeolocationResult,
  ListOptions,
  LookUpOptions,
  SelectedResult,
  SummaryOptions,
  SystemOptions,
  UsageStats,
  Whole,
} from './types.ts'

export interface ClientOptions {
  /** The base address of the service, such as `https://geo.example.com`. */
  readonly url: string
  /** An API key; in browsers a publishable one. */
  readonly key: string
  /** Milliseconds that an attempt may take; default: 10,000. */
  readonly timeoutMs?: number | undefined
  /** Further attempts after a failure that may pass; default: 3. */
  readonly retries?: number | undefined
  /** Milliseconds: if the service asks to wait longer, the call fails at once; default: 60,000. */
  readonly maxRetryDelayMs?: number | undefined
  /** Batches of one list that are sent at the same time; default: 2. */
  readonly concurrency?: number | undefined
  /** Answers that are kept by their block; default: 10,000 for an hour. */
  readonly cache?: Partial<CacheOptions> | false | undefined
  /** Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch | undefined
}

const CACHE = { entries: 10_000, ttlMs: 3_600_000 } as const

/** A client of one service. Calls reject with MeridianError, or the reason of their signal. */
export class Meridian {
  readonly #service: Service
  readonly #known: KnownAnswers
  readonly #concurrency: number

  constructor(options: ClientOptions) {
    const { cache = {}, concurrency = 2 } = options
    this.#service = toService(options)
    this.#known = new KnownAnswers(cache === false ? false : { ...CACHE, ...cache })
    this.#concurrency = Math.max(1, concurrency)
  }

  /** Locates an address. The result has no `location` if nobody knows where it is. */
  locate(address: string, options?: Whole<LookUpOptions>): Promise<GeolocationResult>
  locate(address: string, options: LookUpOptions): Promise<SelectedResult>
  async locate(text: string, options: LookUpOptions = {}): Promise<SelectedResult> {
    const address = parseAddress(text)
    if (address === undefined) throw badRequest(NOT_AN_ADDRESS)
    const known = this.#known.find(address, options)
    if (known !== undefined) return known
    const path = `/v1/ip/${encodeURIComponent(text)}`
    const answer = await this.#lookUp(path, this.#known.toAsk(options), options)
    this.#known.keep(address, options, answer)
    return this.#known.present(answer, options)
  }

  /** Locates the address from which this call comes. */
  me(options?: Whole<LookUpOptions>): Promise<GeolocationResult>
  me(options: LookUpOptions): Promise<SelectedResult>
  me(options: LookUpOptions = {}): Promise<SelectedResult> {
    return this.#lookUp('/v1/ip/me', options, options)
  }

  /**
   * Locates any number of addresses, in batches. The results are in the order of the addresses; a text
   * that is not an address has a BatchError in its place. If a batch fails, so does the call.
   */
  locateMany(
    addresses: readonly string[],
    options?: Whole<ListOptions>,
  ): Promise<(GeolocationResult | BatchError)[]>
  locateMany(
    addresses: readonly string[],
    options: ListOptions,
  ): Promise<(SelectedResult | BatchError)[]>
  locateMany(
    addresses: readonly string[],
    options: ListOptions = {},
  ): Promise<(SelectedResult | BatchError)[]> {
    return locateList(addresses, options, {
      known: this.#known,
      concurrency: this.#concurrency,
      send: (body) => this.#send({ path: '/v1/ip/batch', body }, options),
    })
  }

  /** Counts up to 10,000 addresses by place and network. */
  async summary(
    addresses: readonly string[],
    options: SummaryOptions = {},
  ): Promise<AddressSummary> {
    const { top, include } = options
    const body = { ips: addresses, top, include: unlessEmpty(include) }
    // safe: the answer has the form of the OpenAPI document
    return (await this.#send({ path: '/v1/ip/summary', body }, options)) as AddressSummary
  }

  /** Describes an autonomous system: `15169`, `'AS15169'` or `'AS0.15169'`. */
  async asn(system: number | string, options: SystemOptions = {}): Promise<AutonomousSystem> {
    const number = String(system).replace(/^ASN?/i, '')
    // A number with a point has lost the zeros at its end.
    const form = typeof system === 'string' ? /^\d+(\.\d+)?$/ : /^\d+$/
    if (!form.test(number)) throw badRequest('Not the number of an autonomous system')
    const { family, limit, offset } = options
    const call = { path: `/v1/asn/${number}`, query: { family, limit, offset } }
    // safe: the answer has the form of the OpenAPI document
    return (await this.#send(call, options)) as AutonomousSystem
  }

  /** The requests of the key's owner. */
  async usage(options: CallOptions = {}): Promise<UsageStats> {
    // safe: the answer has the form of the OpenAPI document
    return (await this.#send({ path: '/v1/account/me/usage' }, options)) as UsageStats
  }

  async #lookUp(path: string, asked: Asked, options: CallOptions): Promise<SelectedResult> {
    const { fields, include, lang } = asked
    const query = { fields: fields?.join(), include: unlessEmpty(include)?.join(), lang }
    // safe: the answer has the form of the OpenAPI document
    return (await this.#send({ path, query, mayBeUnknown: true }, options)) as SelectedResult
  }

  #send(call: Call, options: CallOptions): Promise<unknown> {
    return send(this.#service, call, options)
  }
}

function toService(options: ClientOptions): Service {
  const { url, key, timeoutMs = 10_000, retries = 3, maxRetryDelayMs = 60_000 } = options
  // The message of fetch about a bad header would show the key.
  if (!key) throw new TypeError('The key is empty')
  if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError('The key must be one word of ASCII')
  const { origin, pathname } = toUrl(url)
  // Browsers refuse to call fetch as a method of another object.
  const ownFetch = options.fetch ?? ((input, init) => fetch(input, init))
  return {
    url: `${origin}${pathname}`.replace(/\/+$/, ''),
    key,
    fetch: ownFetch,
    timeoutMs,
    retries,
    maxRetryDelayMs,
  }
}

function badRequest(message: string): MeridianError {
  return new MeridianError(message, { status: 400, code: 'BAD_REQUEST' })
}

function toUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url
  throw new TypeError(`The url must be one such as https://geo.example.com: "${text}"`)
}
