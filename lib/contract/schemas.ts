import * as account from './account-schemas.ts'
import * as billing from './billing-schemas.ts'
import { ApiErrorBody } from './common.ts'
import { ContactBody, ContactChallenge, InquiryBody, OkResponse } from './contact.ts'
import { GeolocationResult, Location } from './geolocation.ts'
import { Database, HealthStatus, ServiceInfo } from './system.ts'
import { RumOverview } from './telemetry-overview.ts'
import { Beacon, PercentileSet, RumSummary } from './telemetry-schemas.ts'

/** Every schema that has a name in the description; one that is not here is written out in place. */
export const schemas = {
  ApiError: ApiErrorBody,
  HealthStatus,
  ServiceInfo,
  Database,
  GeolocationResult,
  Location,
  UserProfile: account.UserProfile,
  ApiKeyInfo: account.ApiKeyInfo,
  ApiKeyCreated: account.ApiKeyCreated,
  CreateKeyBody: account.CreateKeyBody,
  DeletedResponse: account.DeletedResponse,
  KeyRenewed: account.KeyRenewed,
  UsageStats: account.UsageStats,
  Site: account.Site,
  CreateSiteBody: account.CreateSiteBody,
  AuditListResponse: account.AuditList,
  AuditLogEntry: account.AuditLogEntry,
  Plan: billing.Plan,
  PlanBody: billing.PlanBody,
  SubscriptionResponse: billing.SubscriptionResponse,
  CheckoutResponse: billing.CheckoutResponse,
  OveragesBody: billing.OveragesBody,
  OveragesResponse: billing.OveragesResponse,
  CancelResponse: billing.CancelResponse,
  ReactivateResponse: billing.ReactivateResponse,
  ProrationPreview: billing.ProrationPreview,
  PortalResponse: billing.PortalResponse,
  Invoice: billing.Invoice,
  BillingDetails: billing.BillingDetails,
  AddressBody: billing.AddressBody,
  PromoBody: billing.PromoBody,
  PromoApplied: billing.PromoApplied,
  Discount: billing.Discount,
  ActiveDiscount: billing.ActiveDiscount,
  TaxId: billing.TaxId,
  TaxIdBody: billing.TaxIdBody,
  PaymentMethodInfo: billing.PaymentMethodInfo,
  PaymentMethodBody: billing.PaymentMethodBody,
  SetupIntentResponse: billing.SetupIntentResponse,
  SuccessResponse: billing.SuccessResponse,
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
