import type { Leg } from '../../calls/leg/leg.ts'
import type { Clock } from '../../core/clock.ts'
import { codeOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Connection } from '../agent-link.ts'
import type { GatewayHeaders } from '../gateway-headers.ts'
import { printable } from '../headers.ts'
import type { SipMedia } from '../media/sip-media.ts'

/** Connection, clock and log for the signalling of one leg. */
export interface SignallingContext {
  /** Connection to the agent on which the leg was made. */
  readonly connection: Connection
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly headers: GatewayHeaders
}

/** Session of one leg: the leg, its audio, and its signalling context. */
export class LegSession implements SignallingContext {
  readonly leg: Leg
  readonly media: SipMedia
  readonly connection: Connection
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly headers: GatewayHeaders

  constructor(leg: Leg, media: SipMedia, { connection, clock, log, headers }: SignallingContext) {
    this.leg = leg
    this.media = media
    this.connection = connection
    this.clock = clock
    this.log = log
    this.headers = headers
  }

  /** Reports to the leg whether the peer holds, after each exchange of descriptions. */
  reportHold(): void {
    this.leg.hold(this.media.isHeld, 'media')
  }

  /** Ends the leg because of an error in its session. */
  fail(error: unknown): void {
    this.leg.end({ code: codeOf(error), detail: errorText(error) })
  }
}

/** Returns the message of an error for a log line, a Warning or a cause. */
export const errorText = (error: unknown): string =>
  printable(error instanceof Error ? error.message : String(error), 256)
