import type { BrowserSource, MediaPort } from '../types.ts'
import type { Relay } from './relay.ts'
import { planSource, withFormat } from './sdp/negotiate.ts'
import { WebRtcSession } from './webrtc-session.ts'
import type { MediaWorker } from './worker-supervisor.ts'

/** Sound of a {@link SourceSession}: its port, and the way from the browser to it. */
export interface SourceSound {
  readonly port: MediaPort
  readonly relay: Relay
}

/** Session of a browser that only sends: a shared screen, a second camera or microphone. */
export class SourceSession extends WebRtcSession implements BrowserSource {
  readonly port?: MediaPort

  /**
   * `nextWorker`: returns a running worker after the death of the present one. `sound`: absent for a source
   * without. A later offer cannot add it.
   */
  constructor(worker: MediaWorker, nextWorker: () => Promise<MediaWorker>, sound?: SourceSound) {
    super({
      worker,
      nextWorker,
      relay: sound?.relay,
      isSource: true,
      plan: (offer) => {
        if (!sound) return planSource(offer, [])
        const { format } = sound.relay
        return planSource(offer, [format.codec]).map((plan) => withFormat(plan, format))
      },
    })
    if (sound) this.port = sound.port
  }

  override async close(): Promise<void> {
    await super.close()
    await this.port?.close()
  }
}
