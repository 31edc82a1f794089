import type { SipRequest } from '../../message/message.ts'
import { detachedCopy } from '../../message/text.ts'
import type { Transports } from '../../transport/transports.ts'
import type { Flow } from '../../transport/types.ts'

/**
 * Sends the responses to a request back the way that it came or, where that connection is gone, over a new one (RFC 3261 18.2.2). It
 * outlives the request by 32 s, so it holds nothing of it.
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
