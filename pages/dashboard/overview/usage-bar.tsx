/** A bar that shows how much of a cap is used. The text beside it says the same. */
export function UsageBar({ used, cap }: { used: number; cap: number }) {
  const share = cap === 0 ? 1 : Math.min(1, used / cap)
  return (
    <svg
      class={`usage-bar ${levelOf(share)}`}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="ground" width="100" height="4" />
      <rect class="used" width={(share * 100).toFixed(2)} height="4" />
    </svg>
  )
}

/** `near` starts at 80%, like the `near_cap` entry of the audit log. */
export function levelOf(share: number): 'low' | 'near' | 'full' {
  if (share >= 1) return 'full'
  return share >= 0.8 ? 'near' : 'low'
}
