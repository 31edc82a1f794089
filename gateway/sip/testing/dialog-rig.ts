import pino from 'pino'
import { newLegId } from '../../calls/call/ids.ts'
import { Leg, type LegOwner } from '../../calls/leg/leg.ts'
import { FakeClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Connection } from '../agent-link.ts'
import { type DialogTerms, EstablishedDialog } from '../dialog/established-dialog.ts'
import type { DialogOrigin } from '../dialog/known-dialogs.ts'
import { LegSession } from '../dialog/leg-session.ts'
import type { Transfers } from '../dialog/transfers.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import { LegMedia, type LegMediaOptions } from '../media/leg-media.ts'
import { readSdp } from '../sdp/read-sdp.ts'
import { TestPort } from './fake-edge.ts'
import { FakeDialog, FakeRequest, type FakeResponse } from './fake-srf.ts'

/** Address that the far side's signalling comes from in these tests. */
export const farAddress = '192.0.2.9'

/** Returns a description of the far side. */
export const farSdp = (
  changes: {
    version?: number
    address?: string
    port?: number
    formats?: string
    profile?: string
    lines?: readonly string[]
  } = {},
): string => {
  const { version = 1, address = farAddress, port = 4000, formats = '0 8 101' } = changes
  const { profile = 'RTP/AVP', lines = ['a=rtpmap:101 telephone-event/8000'] } = changes
  return [
    'v=0',
    `o=- 7 ${version} IN IP4 ${farAddress}`,
    's=-',
    `c=IN ${address.includes(':') ? 'IP6' : 'IP4'} ${address}`,
    't=0 0',
    `m=audio ${port} ${profile} ${formats}`,
    ...lines,
    '',
  ].join('\r\n')
}

/** Established dialog on fakes, with all its events. */
export interface DialogBench {
  readonly clock: FakeClock
  readonly leg: Leg
  readonly port: TestPort
  readonly media: LegMedia
  readonly dialog: FakeDialog
  readonly established: EstablishedDialog
  /** Events of the leg. */
  readonly heard: string[]
  readonly released: () => boolean
  /** Sends a request of the far side, and returns the response. */
  receive(method: string, body?: string, headers?: Record<string, string>): FakeResponse
  /** Sends the ACK to a 200 of the gateway. */
  ack(body?: string): void
}

/** Settings that a test may change. `offer`: the peer's, `''` for a late offer. */
export interface DialogBenchOptions {
  readonly parts?: DialogTerms & {
    readonly dialog?: FakeDialog
    readonly connection?: Connection
    readonly log?: Log
    /** With {@link origin}: the peer may request transfers. */
    readonly transfers?: Transfers
    readonly origin?: DialogOrigin
  }
  readonly media?: LegMediaOptions
  readonly offer?: string
  /** Whether the INVITE was outbound. */
  readonly outbound?: boolean
  /** The far side's tag. */
  readonly dialogTag?: string
}

/** Creates a dialog in the state after the 200, and after the ACK unless the INVITE had no offer. */
export const establish = (options: DialogBenchOptions = {}): DialogBench => {
  const { offer = farSdp(), outbound = false } = options
  const clock = new FakeClock()
  const port = new TestPort('call')
  const heard: string[] = []
  const { parts = {} } = options
  const { dialog = new FakeDialog(), connection = { isAlive: true }, log = pino({ level: 'silent' }) } = parts
  if (options.dialogTag !== undefined) dialog.sip = { ...dialog.sip, remoteTag: options.dialogTag }
  const party = { uri: 'sip:a@b.example', user: 'a', name: '' }
  const direction = outbound ? 'outbound' : 'inbound'
  const now = () => clock.now()
  const leg = new Leg({ id: newLegId(), kind: 'sip', direction, from: party, to: party, now })
  const media = new LegMedia(port, '42', { source: farAddress, random: () => 0.5, ...options.media })
  let released = false
  const headers = new GatewayHeaders()
  const { transfers, origin } = parts
  const transferor = transfers && origin && transfers.transferor(origin)
  const established = new EstablishedDialog(
    dialog,
    new LegSession(leg, media, { connection, clock, log, headers }),
    { transferor, ...parts },
    {
      released: () => {
        released = true
      },
    },
    () => 0.5,
  )
  leg.attach({
    ring: () => {},
    progress: async () => {},
    answer: async () => {},
    end: (cause) => established.bye(cause),
    sendDigits: async () => {},
  })
  leg.own(ownerOf(heard))
  negotiate(media, offer, outbound)
  dialog.local.sdp = media.local
  leg.setPort(port)
  leg.answered()
  const ack = (body?: string) => dialog.emit('ack', new FakeRequest('ACK', 'sip:x@y', body))
  if (!outbound && offer !== '') ack()
  return {
    clock,
    leg,
    port,
    media,
    dialog,
    established,
    heard,
    ack,
    released: () => released,
    receive: (method, body = '', headers = {}) => {
      const request = new FakeRequest(method, 'sip:x@y', body, headers)
      return dialog.receive(Object.assign(request, { source_address: farAddress }))
    },
  }
}

const negotiate = (media: LegMedia, offer: string, outbound: boolean): void => {
  if (outbound) {
    media.offer('PCMU')
    media.accept(readSdp(offer))
  } else if (offer === '') media.offer('PCMU', 'response')
  else {
    media.exchange.receiveOffer('invite')
    media.answer(readSdp(offer))
    media.exchange.sendAnswer()
  }
}

/** Owner that records its events. */
export const ownerOf = (heard: string[]): LegOwner => ({
  legEarly: () => heard.push('early'),
  legAnswered: () => heard.push('answered'),
  legDigit: (_leg, digit) => heard.push(`digit ${digit}`),
  legHeld: (_leg, held) => heard.push(held ? 'held' : 'taken back'),
  legEnded: ({ state }) => {
    if (state.kind === 'ended') heard.push(`ended ${state.cause.code} by ${state.by}`)
  },
})
