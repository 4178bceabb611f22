import type { Rail } from './frame.tsx'

const USER_PAGES: Rail['pages'] = [
  { path: '/app', text: 'Overview' },
  { path: '/app/usage', text: 'Usage' },
  { path: '/app/keys', text: 'Keys' },
  { path: '/app/sites', text: 'Sites' },
  { path: '/app/vitals', text: 'Web vitals' },
  { path: '/app/look-up', text: 'Look up' },
  { path: '/app/batch', text: 'Batch look-up' },
  { path: '/app/billing', text: 'Billing' },
  { path: '/app/audit', text: 'Audit log' },
  { path: '/app/account', text: 'Account' },
]

/** Of the dashboard. */
export const USER_RAIL: Rail = { label: 'Dashboard', pages: USER_PAGES }

/** Of the dashboard, for operators. */
export const OPERATOR_RAIL: Rail = {
  label: 'Dashboard',
  pages: [...USER_PAGES, { path: '/app/operate', text: 'Operate' }],
}

/** Of the pages for operators. */
export const OPERATE_RAIL: Rail = {
  label: 'Operate',
  pages: [
    { path: '/app/operate', text: 'Overview' },
    { path: '/app/operate/people', text: 'People' },
    { path: '/app/operate/sites', text: 'Sites' },
    { path: '/app/operate/usage', text: 'Usage' },
    { path: '/app/operate/audit', text: 'Audit' },
    { path: '/app/operate/databases', text: 'Databases' },
    { path: '/app/operate/system', text: 'System' },
    { path: '/app/operate/billing', text: 'Billing' },
    { path: '/app/operate/inquiries', text: 'Inquiries' },
    { path: '/app/operate/notices', text: 'Deliveries' },
    { path: '/app', text: 'Dashboard' },
  ],
}
