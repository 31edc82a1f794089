import { randomInt } from 'node:crypto'
import type { Edge, MediaPort } from '../../media/types.ts'
import { newLegId } from '../calls/ids.ts'
import { Leg } from '../calls/leg.ts'
import type { OutboundRequest, OutboundSip, Target } from '../calls/ports.ts'
import type { Clock } from '../clock.ts'
import { type Cause, codeOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { applicationHeaders, fromHeader, printable, transportObjection } from './headers.ts'
import { asPortError, type LegRegistry } from './inbound.ts'
import type { AgentLink, Connection } from './link.ts'
import { LegMedia } from './media.ts'
import { OutboundLeg } from './outbound-leg.ts'
import { allowedMethods } from './refusals.ts'
import type { Headers, UacOptions } from './srf.ts'
import { parseSipUri, type SipUri, shownUri, userOf } from './uri.ts'

/** What makes outbound legs works with. */
export interface OutboundParts {
  readonly link: Pick<AgentLink, 'srf' | 'connection' | 'capabilities'>
  readonly edge: Pick<Edge, 'open'>
  readonly legs: LegRegistry
  readonly clock: Clock
  readonly log: Log
  readonly userAgent: string
}

/** Room for the request line, the leading line and what drachtio-srf adds (digest), in bytes. */
const frameReserve = 700

/** Makes legs to carriers' SIP URIs. */
export class Outbound implements OutboundSip {
  #parts: OutboundParts

  constructor(parts: OutboundParts) {
    this.#parts = parts
  }

  dial(target: Extract<Target, { kind: 'sip' }>, request: OutboundRequest): Leg {
    const { link, clock, legs, userAgent } = this.#parts
    const uri = parseSipUri(target.uri)
    const to = { uri: shownUri(uri?.bare ?? target.uri), user: uri ? userOf(uri) : '', name: '' }
    const leg = new Leg({
      ...{ id: newLegId(), kind: 'sip', direction: 'outbound', from: request.from, to },
      now: () => clock.now(),
    })
    const log = this.#parts.log.child({ call: request.callId, leg: leg.id })
    const connection: Connection = link.connection ?? { alive: false }
    const side = new OutboundLeg({
      ...{ leg, srf: link.srf, connection, clock, log, userAgent },
      onReleased: () => legs.delete(side),
    })
    leg.attach(side)
    legs.add(side)
    this.#place(leg, side, uri, request, log).catch((error: unknown) => {
      log.error({ err: error }, 'the INVITE could not be made')
      leg.ended({ code: 'internal' })
    })
    return leg
  }

  async #place(
    leg: Leg,
    side: OutboundLeg,
    uri: SipUri | undefined,
    request: OutboundRequest,
    log: Log,
  ): Promise<void> {
    // The leg is to come back in state `new`, whatever is wrong with it.
    await Promise.resolve()
    const objection = uri ? transportObjection(uri) : 'this is no SIP URI'
    if (!uri || objection) {
      leg.ended({ code: 'unreachable', detail: `${printable(leg.to.uri)}: ${objection}` })
      return
    }
    if (!side.connection.alive) {
      leg.ended({ code: 'control_lost' })
      return
    }
    let port: MediaPort
    try {
      port = await this.#parts.edge.open({ group: request.callId, kind: 'carrier' })
    } catch (error) {
      const code = codeOf(asPortError(error))
      log.error({ code, reason: String(error) }, 'no media port for the leg')
      leg.ended({ code })
      return
    }
    // From here on the leg closes it; a leg that has ended meanwhile does so at once.
    leg.setPort(port)
    if (!leg.isEnded) this.#invite(side, leg, uri, port, request, log)
  }

  #invite(
    side: OutboundLeg,
    leg: Leg,
    uri: SipUri,
    port: MediaPort,
    request: OutboundRequest,
    log: Log,
  ): void {
    const media = new LegMedia(port, String(randomInt(1, 2 ** 47)))
    const localSdp = media.offer(request.codec)
    const headers = this.#headersOf(uri, request, log)
    const fault = this.#tooLong(uri, headers, localSdp)
    if (fault) {
      leg.ended(fault)
      return
    }
    const { username, password = '' } = request.destination
    const options: UacOptions = { localSdp, headers, ...(username && { auth: { username, password } }) }
    log.info(
      { to: printable(leg.to.uri), headers: Object.keys(headers), digest: Boolean(username) },
      'INVITE',
    )
    side.invite(uri.bare, media, options)
  }

  #headersOf(uri: SipUri, request: OutboundRequest, log: Log): Headers {
    const { destination, from } = request
    const { headers, refused } = applicationHeaders([...uri.headers, ...(destination.headers ?? [])])
    for (const { name, why } of refused) log.warn({ header: name, why }, 'header not sent')
    const name = destination.fromName ?? from.name
    const user = destination.from ?? from.user
    const { userAgent } = this.#parts
    return {
      ...headers,
      From: fromHeader({ user, name }, destination.from),
      'Content-Type': 'application/sdp',
      Allow: allowedMethods,
      ...(userAgent !== '' && { 'User-Agent': userAgent }),
    }
  }

  /** A drachtio-server loses its connection to us over a long message. */
  #tooLong(uri: SipUri, headers: Headers, sdp: string): Cause | undefined {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const bytes = Buffer.byteLength([uri.bare, ...lines, sdp].join(''), 'utf8') + frameReserve
    const longest = this.#parts.link.capabilities.maxFrameBytes
    return bytes > longest
      ? { code: 'bad_request', detail: `The INVITE has ${bytes} bytes; the SIP agent takes ${longest}.` }
      : undefined
  }
}
