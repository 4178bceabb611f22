import type { components } from './generated/openapi.ts'

type Schemas = components['schemas']

/** What is known about an address. Without `location`, nobody knows where it is. */
export type GeolocationResult = Schemas['GeolocationResult']
export type Location = NonNullable<GeolocationResult['location']>
/** A result of which only some fields were requested: each may be absent. */
export type SelectedResult = Schemas['SelectedResult']
/** Takes the place of the result for a text that is not an address. */
export type BatchError = Schemas['BatchError']
export type AddressSummary = Schemas['AddressSummary']
export type AutonomousSystem = Schemas['AutonomousSystem']
export type UsageStats = Schemas['UsageStats']

/** A field of a result by its dotted name, such as `location.city`. */
export type Field = ListField | 'hostname'
/** A field of results of a list. */
export type ListField = NonNullable<Schemas['BatchBody']['fields']>[number]
/** What a result has only if it is included. */
export type Include = ListInclude | 'hostname'
export type ListInclude = NonNullable<Schemas['BatchBody']['include']>[number]
/** Language of names. */
export type Lang = NonNullable<Schemas['BatchBody']['lang']>

/** How one call is made. */
export interface CallOptions {
  /** Ends the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that each attempt may take; default: that of the client. */
  readonly timeoutMs?: number | undefined
  /** Further attempts after the first one; default: that of the client. */
  readonly retries?: number | undefined
}

/** Which result a look-up answers. */
export interface LookUpOptions extends CallOptions {
  /** Only these fields. */
  readonly fields?: readonly Field[] | undefined
  /** What the result lacks by default. */
  readonly include?: readonly Include[] | undefined
  readonly lang?: Lang | undefined
}

export interface ListOptions extends CallOptions {
  readonly fields?: readonly ListField[] | undefined
  readonly include?: readonly ListInclude[] | undefined
  readonly lang?: Lang | undefined
}

/** Options for whole results. */
export type Whole<Options> = Omit<Options, 'fields'> & { readonly fields?: undefined }

export interface SummaryOptions extends CallOptions {
  /** Length of each list, from 1 to 1,000; default: 10. */
  readonly top?: number | undefined
  readonly include?: readonly 'privacy'[] | undefined
}

/** A page of an autonomous system's prefixes. */
export interface SystemOptions extends CallOptions {
  readonly family?: 4 | 6 | undefined
  /** From 1 to 1,000; default: 100. */
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}
