import type { AppHeader } from '../core/app-headers.ts'
import type { MadeRequest } from '../core/requests.ts'
import { Headers } from '../message/headers.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { serialise } from '../message/serialise.ts'
import { splitOutside } from '../message/text.ts'

/** Values of a forwarded request. */
export interface ForwardOptions {
  readonly uri: string
  readonly branch: string
  /** The agent's Via value with this branch. */
  readonly via: string
  /** Record-Route values to put on top. */
  readonly recordRoutes: readonly string[]
  /** Whether REGISTER gets a Path instead of a Record-Route (RFC 3327). */
  readonly asPath?: boolean
  readonly routes: readonly string[]
  /** Max-Breadth; default: unchanged. */
  readonly breadth?: number
  /** Headers of the application; each replaces those of the same name. */
  readonly extra: readonly AppHeader[]
}

const replaced = new Set(['route', 'max-forwards', 'content-length'])

/**
 * Returns the Max-Forwards value for the forwarded request; undefined if the request must not be forwarded
 * (RFC 3261 16.3).
 */
export const hopsLeft = (request: SipRequest): number | undefined => {
  const hops = Number(request.headers.first('max-forwards') ?? 71)
  return hops > 0 ? hops - 1 : undefined
}

/** Default Max-Breadth (RFC 5393 5.3.2), and the maximum that the agent uses. */
const defaultBreadth = 60

/** Returns Max-Breadth: the number of branches that a request may have at once (RFC 5393 5.3). */
export const breadthOf = ({ headers }: SipRequest): number => {
  const given = headers.first('max-breadth')?.trim() ?? ''
  return /^\d+$/.test(given) ? Math.min(Number(given), defaultBreadth) : defaultBreadth
}

/**
 * Returns the request in the form in which it is forwarded (RFC 3261 16.6). Only the values that a proxy must
 * change differ.
 */
export const forwardedRequest = (request: SipRequest, way: ForwardOptions): MadeRequest => {
  const { uri, branch, via, recordRoutes, asPath, routes, breadth, extra } = way
  const { method, headers, callId, seq, body } = request
  const overridden = new Set(extra.map(([name]) => name.toLowerCase()))
  if (breadth !== undefined) overridden.add('max-breadth')
  const out = new Headers().append('Via', via)
  for (const value of recordRoutes) out.append(asPath ? 'Path' : 'Record-Route', value)
  if (asPath && recordRoutes.length > 0) out.append('Require', 'path')
  for (const value of routes) out.append('Route', value)
  out.append('Max-Forwards', String(hopsLeft(request) ?? 0))
  if (breadth !== undefined) out.append('Max-Breadth', String(breadth))
  for (const { name, key, value } of headers.list())
    if (!replaced.has(key) && !overridden.has(key)) out.append(name, value)
  for (const [name, value] of extra) out.append(name, value)
  const bytes = serialise(`${method} ${uri} SIP/2.0`, out, body)
  const from = headers.first('from') ?? ''
  const to = headers.first('to') ?? ''
  const contact = headers.first('contact') ?? ''
  return { method, uri, branch, via, routes, from, to, callId, seq, contact, bytes }
}

/** Returns the response without its topmost Via, the agent's own (RFC 3261 16.7, step 3). */
export const forwardedResponse = (response: SipResponse): SipResponse => {
  const out = new Headers()
  let first = true
  for (const { name, key, value } of response.headers.list()) {
    if (key !== 'via' || !first) {
      out.append(name, value)
      continue
    }
    first = false
    const [, ...rest] = splitOutside(value, ',', 'Via')
    if (rest.length > 0) out.append(name, rest.join(', '))
  }
  return { ...response, headers: out }
}

/** Returns the Via value below the topmost one; undefined if it is the only one. */
export const nextVia = (response: SipResponse): string | undefined =>
  response.headers.all('via').flatMap((value) => splitOutside(value, ',', 'Via'))[1]
