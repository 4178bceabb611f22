export const APP_LABELS: Readonly<Record<string, string>> = {
  api: 'API',
  cli: 'Command line',
  dashboard: 'Dashboard',
  stripe: 'Stripe',
}

/** The label of a name, or the name itself if it has none. */
export function labelOf(name: string, labels: Readonly<Record<string, string>>): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? name) : name
}
