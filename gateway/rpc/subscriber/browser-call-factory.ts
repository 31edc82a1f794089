import type { WebRtc } from '../../../media/types.ts'
import { newLegId } from '../../calls/call/ids.ts'
import { BrowserMediaWatch, type LostState } from '../../calls/leg/browser-media-watch.ts'
import { Leg } from '../../calls/leg/leg.ts'
import type { SteadyClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Party } from '../../model.ts'
import { BrowserCall, type BrowserCallDeps, type BrowserCallOptions } from './browser-call.ts'
import type { CallParties } from './call-parties.ts'
import type { OpenBrowserRoom } from './rooms/browser-room.ts'

/** Collaborators of {@link BrowserCallFactory}. */
export interface BrowserCallFactoryDeps extends BrowserCallDeps {
  readonly webrtc: Pick<WebRtc, 'answer' | 'offer' | 'source'>
}

/** Creates the WebRTC sessions, legs and calls of browsers. */
export class BrowserCallFactory {
  readonly webrtc: Pick<WebRtc, 'answer' | 'offer' | 'source'>
  readonly #parties: CallParties
  readonly #openRoom: OpenBrowserRoom
  readonly #clock: SteadyClock
  readonly #log: Log

  constructor({ webrtc, parties, openRoom, clock, log }: BrowserCallFactoryDeps) {
    this.webrtc = webrtc
    this.#parties = parties
    this.#openRoom = openRoom
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
    const deps = { parties: this.#parties, openRoom: this.#openRoom, clock: this.#clock, log: this.#log }
    return new BrowserCall(options, deps)
  }

  /**
   * Watches the WebRTC session of a further source, and reports once when it is lost. `askOffer`: as in
   * {@link BrowserMediaWatch}.
   */
  watch(
    media: ConstructorParameters<typeof BrowserMediaWatch>[0],
    askOffer: () => boolean,
    onLost: (state: LostState) => void,
  ): BrowserMediaWatch {
    return new BrowserMediaWatch(media, this.#clock, onLost, { askOffer })
  }
}
