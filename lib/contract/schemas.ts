import * as account from './account/account-schemas.ts'
import { SiteProof } from './account/site-proof.ts'
import {
  UsageMails,
  UsageMailsBody,
  UsageReceiver,
  UsageReceiverBody,
} from './account/usage-mails.ts'
import * as bodies from './billing/billing-account-bodies.ts'
import * as billing from './billing/billing-schemas.ts'
import { ApiErrorBody } from './common.ts'
import { ContactBody, ContactChallenge, InquiryBody, OkResponse } from './contact.ts'
import { AutonomousSystem } from './geo/autonomous-systems.ts'
import { BatchBody, BatchError, BatchResponse } from './geo/batch.ts'
import { GeolocationResult, Location, SelectedResult } from './geo/geolocation.ts'
import { AddressSummary, SummaryBody } from './geo/summary.ts'
import { Database, HealthStatus, ServiceInfo } from './system.ts'
import { RumOverview } from './telemetry/telemetry-overview.ts'
import { Beacon, PercentileSet, RumSummary } from './telemetry/telemetry-schemas.ts'

/** Schemas that OpenAPI lists by name; each has a description. All others are inlined where they are used. */
export const schemas = {
  ApiError: ApiErrorBody,
  HealthStatus,
  ServiceInfo,
  Database,
  GeolocationResult,
  Location,
  SelectedResult,
  BatchBody,
  BatchResponse,
  BatchError,
  SummaryBody,
  AddressSummary,
  AutonomousSystem,
  UserProfile: account.UserProfile,
  ApiKeyInfo: account.ApiKeyInfo,
  ApiKeyCreated: account.ApiKeyCreated,
  CreateKeyBody: account.CreateKeyBody,
  RotateKeyBody: account.RotateKeyBody,
  DeletedResponse: account.DeletedResponse,
  KeyRenewed: account.KeyRenewed,
  UsageStats: account.UsageStats,
  UsageMails,
  UsageMailsBody,
  UsageReceiver,
  UsageReceiverBody,
  Site: account.Site,
  SiteProof,
  CreateSiteBody: account.CreateSiteBody,
  AuditListResponse: account.AuditList,
  AuditLogEntry: account.AuditLogEntry,
  Plan: billing.Plan,
  PlanBody: billing.PlanBody,
  SubscriptionResponse: billing.SubscriptionResponse,
  CheckoutBody: billing.CheckoutBody,
  CheckoutResponse: billing.CheckoutResponse,
  OveragesBody: billing.OveragesBody,
  OveragesResponse: billing.OveragesResponse,
  CancelResponse: billing.CancelResponse,
  ReactivateResponse: billing.ReactivateResponse,
  ProrationPreview: billing.ProrationPreview,
  PortalResponse: billing.PortalResponse,
  Invoice: billing.Invoice,
  BillingDetails: billing.BillingDetails,
  AddressBody: bodies.AddressBody,
  PromoBody: bodies.PromoBody,
  PromoApplied: billing.PromoApplied,
  Discount: billing.Discount,
  ActiveDiscount: billing.ActiveDiscount,
  TaxId: billing.TaxId,
  TaxIdBody: bodies.TaxIdBody,
  PaymentMethodInfo: billing.PaymentMethodInfo,
  PaymentMethodBody: bodies.PaymentMethodBody,
  SetupIntentResponse: billing.SetupIntentResponse,
  SuccessResponse: billing.SuccessResponse,
  StripeEvent: billing.StripeEvent,
  ReceivedResponse: billing.ReceivedResponse,
  InquiryBody,
  ContactBody,
  ContactChallenge,
  OkResponse,
  Beacon,
  RumSummary,
  RumOverview,
  PercentileSet,
} as const
