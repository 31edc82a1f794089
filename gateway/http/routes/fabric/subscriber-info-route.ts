import type { Resources } from '../../../directory/model/ports.ts'
import type { PushKeys } from '../../../push/push-keys.ts'
import { type Authenticate, bearerOf, requireBearer } from '../../requests/bearer-auth.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { forSubscribers } from '../shared/route-schemas.ts'
import { addressBody, addressSchema } from './address-body.ts'

/** Collaborators of {@link subscriberRoute}. */
export interface SubscriberInfoDeps {
  readonly resources: Pick<Resources, 'find'>
  readonly pushKeys: Pick<PushKeys, 'of'>
  readonly authenticate: Authenticate
}

const textOrNull = { type: ['string', 'null'] } as const

const answer = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    email: textOrNull,
    first_name: textOrNull,
    last_name: textOrNull,
    display_name: { type: 'string' },
    job_title: textOrNull,
    time_zone: textOrNull,
    country: textOrNull,
    region: textOrNull,
    company_name: textOrNull,
    push_notification_key: textOrNull,
    app_settings: {
      type: 'object',
      properties: {
        display_name: { type: 'string' },
        scopes: { type: 'array', items: { type: 'string' } },
      },
    },
    fabric_addresses: { type: 'array', items: addressSchema },
  },
} as const

/** `GET /api/fabric/subscriber/info`: the record of the token's identity. */
export const subscriberRoute = (
  site: TypedSite,
  { resources, pushKeys, authenticate }: SubscriberInfoDeps,
): void => {
  const describe = forSubscribers('subscribers', 'get_subscriber_info', 'Get the subscriber of the token')
  site.get(
    '/api/fabric/subscriber/info',
    { onRequest: requireBearer(authenticate), schema: { ...describe, response: { 200: answer } } },
    async (request) => {
      const { identity, token } = bearerOf(request)
      // Invited users act on the subscriber's behalf, and must learn no more than a callee.
      const subscriber = identity.kind === 'subscriber' ? identity.subscriber : undefined
      const resource = subscriber && resources.find(identity.projectId, 'subscriber', subscriber.id)
      const details = resource?.details
      return {
        id: identity.id,
        email: details?.email ?? null,
        first_name: details?.firstName ?? null,
        last_name: details?.lastName ?? null,
        display_name: identity.displayName,
        job_title: details?.jobTitle ?? null,
        time_zone: details?.timeZone ?? null,
        country: details?.country ?? null,
        region: details?.region ?? null,
        company_name: details?.companyName ?? null,
        push_notification_key: subscriber ? await pushKeys.of(subscriber) : null,
        app_settings: { display_name: 'Trunkline', scopes: token.scopes },
        fabric_addresses: resource ? [addressBody(resource)] : [],
      }
    },
  )
}
