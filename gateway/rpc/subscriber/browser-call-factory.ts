import type { WebRtc } from '../../../media/types.ts'
import { newLegId } from '../../calls/call/ids.ts'
import { BrowserMediaWatch, type LostState } from '../../calls/leg/browser-media-watch.ts'
import { Leg } from '../../calls/leg/leg.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Party } from '../../model.ts'
import { BrowserCall, type BrowserCallOptions } from './browser-call.ts'
import type { CallParties } from './call-parties.ts'

/** Creates the WebRTC sessions, legs and calls of browsers. */
export class BrowserCallFactory {
  readonly webrtc: Pick<WebRtc, 'answer' | 'offer' | 'screen'>
  readonly #parties: CallParties
  readonly #clock: Clock
  readonly #log: Log

  constructor(
    webrtc: Pick<WebRtc, 'answer' | 'offer' | 'screen'>,
    parties: CallParties,
    clock: Clock,
    log: Log,
  ) {
    this.webrtc = webrtc
    this.#parties = parties
    this.#clock = clock
    this.#log = log
  }

  /** Name of this gateway in the dialect. */
  get nodeId(): string {
    return this.#parties.nodeId
  }

  newLeg(direction: 'inbound' | 'outbound', from: Party, to: Party): Leg {
    const now = () => this.#clock.now()
    return new Leg({ id: newLegId(), kind: 'browser', direction, from, to, now })
  }

  /** Creates the call of a browser that already has a WebRTC session. */
  begin(options: BrowserCallOptions): BrowserCall {
    return new BrowserCall(options, this.#parties, this.#clock, this.#log)
  }

  /** Watches a WebRTC session, and reports once when it is lost. */
  watch(
    media: ConstructorParameters<typeof BrowserMediaWatch>[0],
    onLost: (state: LostState) => void,
  ): BrowserMediaWatch {
    return new BrowserMediaWatch(media, this.#clock, onLost)
  }
}
