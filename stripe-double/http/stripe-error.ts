interface ErrorFields {
  readonly status: number
  readonly type?: 'invalid_request_error' | 'card_error' | 'idempotency_error' | 'api_error'
  readonly message: string
  readonly code?: string
  readonly param?: string
  readonly decline_code?: string
}

/** An error answer in Stripe's format. */
export class StripeDoubleError extends Error {
  readonly status: number
  readonly body: { readonly error: Omit<ErrorFields, 'status'> }

  constructor({ status, ...error }: ErrorFields) {
    super(error.message)
    this.status = status
    this.body = { error }
  }

  get isActionRequired(): boolean {
    return this.body.error.code?.endsWith('_requires_action') === true
  }
}

export function missingParam(param: string) {
  return badRequest(`Missing required param: ${param}.`, { code: 'parameter_missing', param })
}

export function badRequest(message: string, more: { code?: string; param?: string } = {}) {
  return new StripeDoubleError({ status: 400, type: 'invalid_request_error', message, ...more })
}

/** Like Stripe: 404 for an id in the path, 400 for an id in the parameter `param`. */
export function missing(noun: string, id: string, param?: string) {
  return new StripeDoubleError({
    status: param === undefined ? 404 : 400,
    type: 'invalid_request_error',
    code: 'resource_missing',
    param: param ?? 'id',
    message: `No such ${noun}: '${id}'`,
  })
}

/** The bank wants the customer to confirm the payment of this object (3-D Secure). */
export function actionRequired(object: 'subscription' | 'invoice'): StripeDoubleError {
  return new StripeDoubleError({
    status: 402,
    type: 'card_error',
    code: `${object}_payment_intent_requires_action`,
    message:
      'This payment requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with the invoice.',
  })
}

export function declined(): StripeDoubleError {
  return new StripeDoubleError({
    status: 402,
    type: 'card_error',
    code: 'card_declined',
    decline_code: 'generic_decline',
    message: 'Your card was declined.',
  })
}
