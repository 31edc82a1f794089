import type { SipRequest } from '../../message/message.ts'
import { detachedCopy } from '../../message/text.ts'
import type { Transports } from '../../transport/transports.ts'
import type { Flow } from '../../transport/types.ts'

/**
 * Returns a function that sends the responses to a request over the request's flow. If that flow is closed,
 * opens a new flow (RFC 3261 18.2.2). The function is kept for up to 32 s after the response, so it holds no
 * reference to the request.
 */
export const responseSender = (
  transports: Pick<Transports, 'back'>,
  request: SipRequest,
  flow: Flow,
): ((bytes: Buffer) => void) => {
  if (!flow.isReliable) return (bytes) => flow.send(bytes)
  const sentBy = { host: detachedCopy(request.via.host), port: request.via.port }
  return (bytes) => transports.back(flow, sentBy)?.send(bytes)
}
