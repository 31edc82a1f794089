import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { optional, text, withoutUnset } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

/** E-mail address with which a subscriber signs in. Only its form is checked. */
export const email = {
  type: 'string',
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
} as const

/** Password of a subscriber. Its length is limited because hashing a long one takes memory. */
export const password = { type: 'string', minLength: 8, maxLength: 128 } as const

const properties = {
  email,
  password,
  display_name: text(),
  first_name: optional(text()),
  last_name: optional(text()),
  job_title: optional(text()),
  timezone: optional(text(64)),
  country: optional(text()),
  region: optional(text()),
  company_name: optional(text()),
  may_dial_out: {
    type: 'boolean',
    description:
      'Whether the subscriber may call telephone numbers and SIP URIs, not only addresses; default false.',
  },
  max_calls: {
    ...optional({ type: 'integer' }),
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum number of concurrent calls to carriers; default the limit of the gateway.',
  },
  calls_per_second: {
    ...optional({ type: 'integer' }),
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum number of new calls to carriers per second; default the limit of the gateway.',
  },
} as const

type Body = ValidatedFields<typeof properties, 'email' | 'password'>

const personal = (body: Partial<Body>) =>
  withoutUnset({
    email: body.email?.toLowerCase(),
    firstName: body.first_name,
    lastName: body.last_name,
    jobTitle: body.job_title,
    timeZone: body.timezone,
    country: body.country,
    region: body.region,
    companyName: body.company_name,
    mayDialOut: body.may_dial_out,
    maxCalls: body.max_calls,
    callsPerSecond: body.calls_per_second,
  })

/** Subscribers: persons who sign in. */
export const subscribers: ResourceKind<'subscriber', Body> = {
  type: 'subscriber',
  path: 'subscribers',
  title: 'subscriber',
  properties,
  required: ['email', 'password'],
  answer: {
    email: { type: 'string' },
    first_name: { type: ['string', 'null'] },
    last_name: { type: ['string', 'null'] },
    display_name: { type: 'string' },
    job_title: { type: ['string', 'null'] },
    timezone: { type: ['string', 'null'] },
    country: { type: ['string', 'null'] },
    region: { type: ['string', 'null'] },
    company_name: { type: ['string', 'null'] },
    may_dial_out: { type: 'boolean' },
    max_calls: { type: ['integer', 'null'] },
    calls_per_second: { type: ['integer', 'null'] },
  },
  create: (body) => ({
    displayName: body.display_name ?? nameOf(body),
    password: body.password,
    details: { mayDialOut: false, ...personal(body), email: body.email.toLowerCase() },
  }),
  change: (body) => ({
    displayName: body.display_name,
    password: body.password,
    details: personal(body),
  }),
  show: ({ displayName, details }) => ({
    email: details.email,
    first_name: details.firstName ?? null,
    last_name: details.lastName ?? null,
    display_name: displayName,
    job_title: details.jobTitle ?? null,
    timezone: details.timeZone ?? null,
    country: details.country ?? null,
    region: details.region ?? null,
    company_name: details.companyName ?? null,
    may_dial_out: details.mayDialOut,
    max_calls: details.maxCalls ?? null,
    calls_per_second: details.callsPerSecond ?? null,
  }),
}

const nameOf = ({ first_name: first, last_name: last, email: address }: Body): string =>
  [first, last].filter(Boolean).join(' ') || (address.split('@')[0] ?? address)
