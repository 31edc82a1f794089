import type { FastifyInstance } from 'fastify'
import type { Directory } from '../../directory/types.ts'
import type { Authenticate } from '../bearer.ts'
import { addressBody } from './addresses.ts'

/** What the subscriber's own record needs. */
export interface SubscriberParts {
  readonly directory: Pick<Directory, 'addresses'>
  readonly authenticate: Authenticate
}

/** `GET /api/fabric/subscriber/info`: the record of whoever holds the token. What the directory does not keep is null. */
export const subscriberRoute = (
  site: FastifyInstance,
  { directory, authenticate }: SubscriberParts,
): void => {
  site.get('/api/fabric/subscriber/info', async (request) => {
    const subscriber = await authenticate(request)
    const own = directory.addresses().filter(({ id }) => id === subscriber.addressId)
    return {
      id: subscriber.id,
      email: subscriber.email,
      first_name: subscriber.firstName,
      last_name: subscriber.lastName,
      display_name: subscriber.displayName,
      job_title: null,
      time_zone: null,
      country: null,
      region: null,
      company_name: null,
      push_notification_key: null,
      app_settings: { display_name: 'Trunkline', scopes: [] },
      fabric_addresses: own.map(addressBody),
    }
  })
}
