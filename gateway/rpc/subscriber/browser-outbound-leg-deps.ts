import type { UserVariables } from '../../../handlers/verbs.ts'
import type { AudioCodec, WebRtc } from '../../../media/types.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { CallId } from '../../model.ts'
import type { Push } from '../../push/push.ts'
import type { CallParties } from './call-parties.ts'

/** Collaborators of a `BrowserOutboundLeg`. */
export interface BrowserOutboundLegDeps {
  readonly webrtc: Pick<WebRtc, 'offer'>
  readonly parties: CallParties
  /** Wakes devices; default no push notifications. */
  readonly push?: Pick<Push, 'call'>
  /** Name of this gateway in the dialect. */
  readonly nodeId: string
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
}

/** Facts of a `BrowserOutboundLeg`. */
export interface BrowserOutboundLegOptions {
  readonly leg: Leg
  readonly callId: CallId
  readonly subscriberId: string
  readonly codec: AudioCodec
  /** Whether video is offered. */
  readonly video: boolean
  /** Leg of the caller; absent if no caller is known yet. */
  readonly caller?: Leg
  /** Variables that browsers receive with the invite. */
  readonly userVariables?: UserVariables
}
