import type { Resource, WebhookDetails } from '../../../directory/model/resource-types.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { httpMethod, httpUrl, optional, text, withoutUnset } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

const properties = {
  name: text(),
  used_for: { type: 'string', enum: ['calling'] },
  primary_request_url: httpUrl,
  primary_request_method: httpMethod,
  fallback_request_url: optional(httpUrl),
  fallback_request_method: optional(httpMethod),
  status_callback_url: optional(httpUrl),
  status_callback_method: optional(httpMethod),
} as const

type Body = ValidatedFields<typeof properties, 'primary_request_url'>

const detailsOf = (body: Partial<Body>) =>
  withoutUnset({
    url: body.primary_request_url,
    method: body.primary_request_method,
    fallbackUrl: body.fallback_request_url,
    fallbackMethod: body.fallback_request_method,
    statusCallbackUrl: body.status_callback_url,
    statusCallbackMethod: body.status_callback_method,
  })

const fieldsOf = (details: WebhookDetails) => ({
  primary_request_url: details.url,
  primary_request_method: details.method,
  fallback_request_url: details.fallbackUrl ?? null,
  fallback_request_method: details.fallbackMethod ?? null,
  status_callback_url: details.statusCallbackUrl ?? null,
  status_callback_method: details.statusCallbackMethod ?? null,
})

const hostOf = (url: string): string => URL.parse(url)?.hostname ?? url

const webhooks = <T extends 'swml_webhook' | 'cxml_webhook'>(type: T, path: string, title: string) => ({
  type,
  path,
  title,
  properties,
  required: ['primary_request_url'],
  answer: {
    name: { type: 'string' },
    used_for: { type: 'string' },
    primary_request_url: { type: 'string' },
    primary_request_method: { type: 'string' },
    fallback_request_url: { type: ['string', 'null'] },
    fallback_request_method: { type: ['string', 'null'] },
    status_callback_url: { type: ['string', 'null'] },
    status_callback_method: { type: ['string', 'null'] },
  },
  create: (body: Body) => ({
    displayName: body.name ?? hostOf(body.primary_request_url),
    details: { method: 'POST' as const, ...detailsOf(body), url: body.primary_request_url },
  }),
  change: (body: Partial<Body>) => ({ displayName: body.name, details: detailsOf(body) }),
  show: ({ displayName, details }: Resource<'swml_webhook'> | Resource<'cxml_webhook'>) => ({
    name: displayName,
    used_for: 'calling',
    ...fieldsOf(details),
  }),
})

/** Scripts that the gateway requests for every call. */
export const swmlWebhooks = webhooks('swml_webhook', 'swml_webhooks', 'script webhook') as ResourceKind<
  'swml_webhook',
  Body
>

/** XML documents that the gateway requests for every call. */
export const cxmlWebhooks = webhooks('cxml_webhook', 'cxml_webhooks', 'XML webhook') as ResourceKind<
  'cxml_webhook',
  Body
>
