import type { FastifyRequest } from 'fastify'
import type { SubscriberTokens } from '../auth/tokens.ts'
import type { Directory, Subscriber } from '../directory/types.ts'
import { TrunklineError } from '../errors.ts'

/** Who sends a request, by its `Authorization: Bearer` header (RFC 6750); throws `unauthorized`. */
export type Authenticate = (request: FastifyRequest) => Promise<Subscriber>

/** Makes it. */
export const bearer =
  (tokens: Pick<SubscriberTokens, 'verify'>, directory: Pick<Directory, 'subscriber'>): Authenticate =>
  async (request) => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined)
      throw new TrunklineError('unauthorized', 'The Authorization header has no bearer token.')
    const { subscriberId } = await tokens.verify(token)
    const subscriber = directory.subscriber(subscriberId)
    if (!subscriber) throw new TrunklineError('unauthorized', 'The subscriber of the token does not exist.')
    return subscriber
  }
