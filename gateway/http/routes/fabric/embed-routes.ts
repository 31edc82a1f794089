import { senderOf } from '@trunkline/sip-agent/networks'
import { defaultGuests, type EmbedTokens } from '../../../auth/embed-tokens.ts'
import type { Clock } from '../../../core/clock.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { badField } from '../shared/field-schemas.ts'
import { forProjects } from '../shared/route-schemas.ts'
import { checkAddress } from './limited-token-routes.ts'
import { addressId, expiry, secondsUntil, tokenSchema } from './token-fields.ts'

/** Collaborators of the routes of embed tokens. */
export interface EmbedDeps {
  readonly embeds: Pick<EmbedTokens, 'make' | 'guestToken'>
  readonly resources: Pick<Resources, 'findByAddressId'>
  readonly requireProject: RequireProject
  readonly clock: Pick<Clock, 'now'>
}

/** Maximum and default lifetime of an embed token. */
const yearSeconds = 366 * 86_400

/**
 * Routes of embed tokens, which web pages contain so that visitors can call one address. A project creates
 * them. Any visitor can exchange one for a guest token.
 */
export const embedRoutes = (site: TypedSite, deps: EmbedDeps): void => {
  makeRoute(site, deps)
  exchangeRoute(site, deps)
}

const makeBody = {
  type: 'object',
  required: ['address_id'],
  additionalProperties: false,
  properties: {
    address_id: addressId,
    expire_at: {
      ...expiry,
      description: 'Expiry in seconds since 1970: by default and at most 366 days from now.',
    },
    max_guests_per_minute: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      description: `Maximum number of guest tokens per minute; default ${defaultGuests}.`,
    },
    origins: {
      type: 'array',
      minItems: 1,
      maxItems: 20,
      items: { type: 'string', minLength: 1, maxLength: 260 },
      description:
        'Origins of the pages that may use the token, such as https://www.example.com; default all.',
    },
  },
} as const

const makeRoute = (site: TypedSite, { embeds, resources, requireProject, clock }: EmbedDeps): void => {
  const schema = {
    ...forProjects(
      'tokens',
      'create_embed_token',
      'Create a token for a web page whose visitors call one address',
    ),
    body: makeBody,
    response: { 201: tokenSchema },
  }
  const onRequest = requireProject('subscribers')
  site.post('/api/fabric/embeds', { onRequest, schema }, async ({ projectId, body }, reply) => {
    const { address_id: id, expire_at: end, max_guests_per_minute: maxGuests } = body
    const seconds = secondsUntil('expire_at', end, clock.now(), { most: yearSeconds, usual: yearSeconds })
    checkAddress(resources, projectId, id, 'address_id')
    const origins = body.origins?.map(originOf)
    const token = await embeds.make(projectId, id, {
      seconds,
      ...(maxGuests && { maxGuests }),
      ...(origins && { origins }),
    })
    return reply.code(201).header('cache-control', 'no-store').send({ token })
  })
}

/** Returns an origin in the form that browsers send. Throws `invalid_field` if the text is not an origin. */
const originOf = (text: string, i: number): string => {
  const url = URL.parse(text)
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (!isOrigin) throw badField(`origins.${i}`, 'An origin such as https://www.example.com is expected.')
  return url.origin
}

const exchangeBody = {
  type: 'object',
  required: ['token'],
  additionalProperties: false,
  properties: { token: { type: 'string', minLength: 1, maxLength: 256 } },
} as const

const exchangeRoute = (site: TypedSite, { embeds }: EmbedDeps): void => {
  const schema = {
    operationId: 'create_embed_guest_token',
    tags: ['tokens'],
    summary: 'Exchange an embed token for a guest token',
    security: [],
    body: exchangeBody,
    response: { 201: tokenSchema },
  }
  site.post('/api/fabric/embeds/tokens', { schema }, async ({ body, headers, ip }, reply) => {
    const source = { origin: headers.origin, network: senderOf(ip) }
    const made = await embeds.guestToken(body.token, source)
    if ('token' in made) return reply.code(201).header('cache-control', 'no-store').send(made)
    if (made.refused === 'origin') throw new TrunklineError('origin_refused')
    if (made.refused === 'unknown') throw badField('token', 'The embed token is not valid.')
    reply.header('retry-after', Math.ceil(made.waitMs / 1000))
    throw new TrunklineError('too_many_requests')
  })
}
