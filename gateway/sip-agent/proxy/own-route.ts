import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Own } from '../core/app-headers.ts'
import { parseAddress } from '../message/address.ts'
import { SipParseError } from '../message/error.ts'
import type { SipRequest } from '../message/message.ts'
import { splitOutside } from '../message/text.ts'
import { formatHost, isSipUri } from '../message/uri.ts'

/** Parameter of our Record-Route that proves that it is ours, for this call. */
const mark = 'tk'
const key = randomBytes(32)

const proofOf = (callId: string): string =>
  createHmac('sha256', key).update(callId).digest('hex').slice(0, 32)

/** Our Record-Route value as seen from the side of `own`. */
export const ownRoute = ({ host, port, protocol }: Own, callId: string): string =>
  `<sip:${formatHost(host)}:${port};transport=${protocol};${mark}=${proofOf(callId)};lr>`

/** True for a Route value that we made for this call: nobody else can have the request sent on to where he likes. */
const isOurs = (value: string, callId: string): boolean => {
  try {
    const { target } = parseAddress(value, 'Route')
    const proof = isSipUri(target) ? (target.params.get(mark) ?? '') : ''
    const wanted = proofOf(callId)
    return proof.length === wanted.length && timingSafeEqual(Buffer.from(proof), Buffer.from(wanted))
  } catch (error) {
    if (error instanceof SipParseError) return false
    throw error
  }
}

/** The routes behind our own ones on top; undefined where the topmost is not ours. */
export const routesBehind = (request: SipRequest): readonly string[] | undefined => {
  const routes = request.headers.all('route').flatMap((value) => splitOutside(value, ',', 'Route'))
  const behind = routes.findIndex((value) => !isOurs(value, request.callId))
  const left = behind < 0 ? [] : routes.slice(behind)
  return left.length === routes.length ? undefined : left
}
