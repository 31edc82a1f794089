import type { types } from 'mediasoup'
import type { MediaClock, MediaTimer } from '../../clock.ts'
import { LayerChoice, type ProgramLayer, type ViewerReport } from '../../rooms/layer-choice.ts'

/** Time between two looks at a stream, in ms. Loss in the high layer causes a look at once. */
const pollMs = { low: 1000, high: 3000 } as const
/** Time from a report of missing packets to the look that it causes, in ms. */
const alarmMs = 200
/** Frequency of RTP timestamps of video, in units per ms. */
const unitsPerMs = 90

/** Returns a layer of a program as mediasoup numbers it. */
export const consumerLayersOf = (layer: ProgramLayer): types.ConsumerLayers => ({
  spatialLayer: layer === 'low' ? 0 : 1,
})

/** Collaborators of a {@link ViewerLayer}. */
export interface ViewerLayerDeps {
  readonly consumer: types.Consumer
  readonly clock: MediaClock
  /** Called when {@link ViewerLayer.layer} has changed. */
  readonly onChange: () => void
}

/**
 * Layer of a program for one viewer, which follows its connection.
 *
 * mediasoup's own estimate of a connection needs header extensions with mediasoup's ids, which browsers that
 * make the offer do not use. The reports and repetition requests of the viewer are there in any case.
 */
export class ViewerLayer {
  readonly consumer: types.Consumer
  readonly #clock: MediaClock
  readonly #onChange: () => void
  readonly #choice: LayerChoice
  #timer: MediaTimer | undefined
  #isAlarmed = false
  #isClosed = false

  /** `layer`: the one that the consumer was opened with. */
  constructor({ consumer, clock, onChange }: ViewerLayerDeps, layer: ProgramLayer) {
    this.consumer = consumer
    this.#clock = clock
    this.#onChange = onChange
    this.#choice = new LayerChoice(clock.now(), layer)
    consumer.on('trace', () => this.#alarm())
    consumer.enableTraceEvent(['nack']).catch(() => undefined)
    consumer.observer.once('close', () => this.close())
    this.#plan(pollMs.low)
  }

  get layer(): ProgramLayer {
    return this.#choice.layer
  }

  /** Stops watching the viewer. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  #plan(ms: number): void {
    this.#timer?.cancel()
    if (!this.#isClosed) this.#timer = this.#clock.after(ms, () => void this.#look())
  }

  #alarm(): void {
    if (this.#isAlarmed) return
    this.#isAlarmed = true
    this.#plan(alarmMs)
  }

  async #look(): Promise<void> {
    this.#plan(pollMs[this.layer])
    try {
      const stats = await this.consumer.getStats()
      this.#isAlarmed = false
      const report = reportOf(stats)
      if (this.#isClosed || !report || !this.#choice.observe(this.#clock.now(), report)) return
      this.#onChange()
      await this.consumer.setPreferredLayers(consumerLayersOf(this.layer))
    } catch {
      // Closed meanwhile, or the worker has died.
    }
  }
}

/** Returns what a viewer has reported; undefined before its stream has begun. */
const reportOf = (stats: readonly (types.ConsumerStat | types.ProducerStat)[]): ViewerReport | undefined => {
  const stat = stats.find(({ type }) => type === 'outbound-rtp')
  return (
    stat && {
      packets: stat.packetCount,
      missing: stat.nackPacketCount,
      lost: stat.fractionLost / 256,
      jitterMs: stat.jitter / unitsPerMs,
      rttMs: stat.roundTripTime ?? 0,
    }
  )
}
