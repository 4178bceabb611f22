type Tab = 'plan' | 'invoices'

/** The plan comes from our database; invoices and payment come from Stripe. */
export function BillingTabs({ base, at }: { base: string; at: Tab }) {
  const current = (tab: Tab) => (at === tab ? 'page' : undefined)
  return (
    <nav class="tabs" aria-label="Billing">
      <a href={`${base}/app/billing`} aria-current={current('plan')}>
        Plan
      </a>
      <a href={`${base}/app/billing/invoices`} aria-current={current('invoices')}>
        Invoices and payment
      </a>
    </nav>
  )
}
