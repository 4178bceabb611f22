interface BillingTabsProps {
  readonly base: string
  readonly at: 'plan' | 'invoices'
}

/** What is known here, and what is asked of the payment processor. */
export function BillingTabs({ base, at }: BillingTabsProps) {
  return (
    <nav class="tabs" aria-label="Billing">
      <a href={`${base}/app/billing`} aria-current={at === 'plan' ? 'page' : undefined}>
        Plan
      </a>
      <a
        href={`${base}/app/billing/invoices`}
        aria-current={at === 'invoices' ? 'page' : undefined}
      >
        Invoices and payment
      </a>
    </nav>
  )
}
