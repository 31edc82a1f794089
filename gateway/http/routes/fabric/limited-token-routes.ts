import { randomUUID } from 'node:crypto'
import type { SubscriberTokens } from '../../../auth/subscriber-tokens.ts'
import { maxAddresses } from '../../../auth/token-claims.ts'
import type { TokenPairs } from '../../../auth/token-pairs.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import { type Authenticate, requireBearer, subscriberOf } from '../../requests/bearer-auth.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { badField } from '../shared/field-schemas.ts'
import { forProjects, forSubscribers } from '../shared/route-schemas.ts'
import {
  addressId,
  connectTo,
  expiry,
  pairBody,
  pairSchema,
  secondsUntil,
  tokenSchema,
} from './token-fields.ts'

/** Collaborators of the routes of limited tokens. */
export interface LimitedTokenDeps {
  readonly resources: Pick<Resources, 'findByAddressId'>
  readonly pairs: Pick<TokenPairs, 'issue'>
  readonly tokens: Pick<SubscriberTokens, 'issue'>
  readonly requireProject: RequireProject
  readonly authenticate: Authenticate
  readonly clock: Pick<Clock, 'now'>
}

/** Routes of tokens for a few addresses: guest tokens of a project, and invitations of a subscriber. */
export const limitedTokenRoutes = (site: TypedSite, deps: LimitedTokenDeps): void => {
  guestRoute(site, deps)
  inviteRoute(site, deps)
}

const guestBody = {
  type: 'object',
  required: ['allowed_addresses'],
  additionalProperties: false,
  properties: {
    allowed_addresses: {
      type: 'array',
      minItems: 1,
      maxItems: maxAddresses,
      uniqueItems: true,
      items: addressId,
      description: 'Ids of the addresses that the guest may see and call.',
    },
    expire_at: expiry,
    ch: connectTo,
  },
} as const

const guestRoute = (site: TypedSite, { requireProject, resources, pairs, clock }: LimitedTokenDeps): void => {
  const onRequest = requireProject('subscribers')
  const schema = {
    ...forProjects('tokens', 'create_guest_token', 'Create a token for a guest, limited to these addresses'),
    body: guestBody,
    response: { 201: pairSchema() },
  }
  site.post('/api/fabric/guests/tokens', { onRequest, schema }, async ({ projectId, body }, reply) => {
    const { allowed_addresses: addressIds, ch } = body
    const seconds = secondsUntil('expire_at', body.expire_at, clock.now())
    for (const [index, id] of addressIds.entries())
      checkAddress(resources, projectId, id, `allowed_addresses.${index}`)
    const terms = {
      kind: 'guest',
      subscriberId: randomUUID(),
      projectId,
      addressIds,
      connectTo: ch,
    } as const
    const pair = await pairs.issue(terms, seconds)
    return reply.code(201).header('cache-control', 'no-store').send(pairBody(pair))
  })
}

const inviteBody = {
  type: 'object',
  required: ['address_id'],
  additionalProperties: false,
  properties: { address_id: addressId, expires_at: expiry },
} as const

const inviteRoute = (site: TypedSite, { authenticate, resources, tokens, clock }: LimitedTokenDeps): void => {
  const schema = {
    ...forSubscribers(
      'tokens',
      'create_invite_token',
      'Create a token that calls one address on behalf of the subscriber',
    ),
    body: inviteBody,
    response: { 201: tokenSchema },
  }
  const path = '/api/fabric/subscriber/invites'
  site.post(path, { onRequest: requireBearer(authenticate), schema }, async (request, reply) => {
    const subscriber = subscriberOf(request)
    const { address_id: id, expires_at: end } = request.body
    const seconds = secondsUntil('expires_at', end, clock.now())
    checkAddress(resources, subscriber.projectId, id, 'address_id')
    const { token } = await tokens.issue(subscriber, seconds, { kind: 'invite', addressIds: [id] })
    return reply.code(201).header('cache-control', 'no-store').send({ token })
  })
}

/** Throws `invalid_field` if the project has no address with this id. */
export const checkAddress = (
  resources: Pick<Resources, 'findByAddressId'>,
  projectId: string,
  id: string,
  field: string,
): void => {
  if (!resources.findByAddressId(projectId, id)) throw badField(field, 'There is no address of this id.')
}
