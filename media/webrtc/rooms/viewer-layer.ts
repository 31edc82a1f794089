import type { types } from 'mediasoup'
import type { MediaClock, MediaTimer } from '../../clock.ts'
import { LayerChoice, type ProgramLayer, type ViewerReport } from '../../rooms/layer-choice.ts'
import type { RoomReceivedVideo } from '../../types.ts'
import type { VideoForwarding } from '../video/forward-video.ts'
import type { Program } from './program.ts'
import { TrialPackets } from './trial-packets.ts'
import { receivedFigures } from './video-figures.ts'

/** Time between two looks at a stream in ms, and while an answer is needed soon. */
const pollMs = { low: 1000, high: 3000, urgent: 250 } as const
/** Time from a report of missing packets to the look that it causes, in ms. */
const alarmMs = 200
/** Frequency of RTP timestamps of video, in units per ms. */
const unitsPerMs = 90
/** Maximum number of viewers of a room whose paths are tried at the same time. */
const maxTrials = 8

/** Returns a layer of a program as mediasoup numbers it. */
export const consumerLayersOf = (layer: ProgramLayer): types.ConsumerLayers => ({
  spatialLayer: layer === 'low' ? 0 : 1,
})

/** Collaborators of a {@link ViewerLayer}. */
export interface ViewerLayerDeps {
  readonly forwarding: Pick<VideoForwarding, 'consumer' | 'sink'>
  readonly program: Pick<Program, 'hasLow' | 'beforeLow' | 'framesPerSecond'>
  /** Viewers of the room whose paths are tried now. */
  readonly trials: Set<ViewerLayer>
  readonly clock: MediaClock
  /** Called when {@link ViewerLayer.needsLow} may have changed. */
  readonly onChange: () => void
}

/**
 * Layer of a program for one viewer, which follows its connection.
 *
 * mediasoup's own estimate of a connection needs header extensions with mediasoup's ids, and a further m-line
 * for its probes. Browsers that make the offer have neither. Their reports and repetition requests are there
 * in any case.
 */
export class ViewerLayer {
  readonly consumer: types.Consumer
  readonly #deps: ViewerLayerDeps
  readonly #choice: LayerChoice
  #packets: { readonly close: () => void; readonly setRate: (rate: number) => void } | undefined
  #timer: MediaTimer | undefined
  /** Whether a report of missing packets has caused a look that is still to come. */
  #isAlarmed = false
  #isClosed = false

  /** `layer`: the one that the consumer was opened with. */
  constructor(deps: ViewerLayerDeps, layer: ProgramLayer) {
    const { consumer } = deps.forwarding
    this.consumer = consumer
    this.#deps = deps
    this.#choice = new LayerChoice(deps.clock.now(), layer)
    consumer.on('trace', () => this.#alarm())
    consumer.on('layerschange', () => deps.onChange())
    consumer.observer.once('close', () => this.close())
    this.#listen(true)
    this.#plan(pollMs.low)
    this.update()
  }

  get layer(): ProgramLayer {
    return this.#choice.layer
  }

  /** Whether the viewer needs the low layer: also until the first key frame of the high one. */
  get needsLow(): boolean {
    return this.layer === 'low' || this.consumer.currentLayers?.spatialLayer === 0
  }

  /** Whether the picture pauses because the path has no room for it. */
  get isPaused(): boolean {
    return this.#choice.isPaused
  }

  /** Returns the figures of the stream; undefined before its first packet. */
  async figures(): Promise<RoomReceivedVideo | undefined> {
    const figures = await receivedFigures([this.consumer])
    const { program } = this.#deps
    const layer = this.consumer.currentLayers?.spatialLayer === 0 ? 'low' : 'high'
    const { isPaused } = this
    return (
      figures && {
        ...figures,
        isPaused,
        framesPerSecond: isPaused ? 0 : program.framesPerSecond(layer),
        ...(program.hasLow && { layer }),
      }
    )
  }

  /** Follows a program that has gained or lost its low layer. */
  update(): void {
    const { clock, program } = this.#deps
    if (this.#isClosed || !this.#choice.setLow(clock.now(), program.hasLow)) return
    this.#followTrial()
    // A closed consumer needs no layer.
    this.#apply().catch(() => undefined)
  }

  /** Stops watching the viewer. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#endTrial()
  }

  #plan(ms: number): void {
    this.#timer?.cancel()
    if (!this.#isClosed) this.#timer = this.#deps.clock.after(ms, () => void this.#look())
  }

  /** One report of missing packets suffices until the next look: a narrow path causes hundreds. */
  #listen(isOn: boolean): void {
    this.consumer.enableTraceEvent(isOn ? ['nack'] : []).catch(() => undefined)
  }

  #alarm(): void {
    if (this.#isAlarmed || this.#isClosed) return
    this.#isAlarmed = true
    this.#listen(false)
    this.#plan(alarmMs)
  }

  async #look(): Promise<void> {
    const { clock } = this.#deps
    this.#plan(this.#choice.isUrgent(clock.now()) ? pollMs.urgent : pollMs[this.layer])
    try {
      const report = reportOf(await this.consumer.getStats())
      if (this.#isClosed) return
      if (this.#isAlarmed) this.#listen(true)
      this.#isAlarmed = false
      if (report) await this.#observe(report)
    } catch {
      // Closed meanwhile, or the worker has died.
    }
  }

  async #observe(report: ViewerReport): Promise<void> {
    const { clock, trials } = this.#deps
    const mayTry = trials.has(this) || trials.size < maxTrials
    const isChanged = this.#choice.observe(clock.now(), report, mayTry)
    this.#followTrial()
    if (isChanged) await this.#apply()
  }

  /** Applies the layer and the pause. */
  async #apply(): Promise<void> {
    this.#plan(pollMs.urgent)
    this.#deps.onChange()
    // The pause empties mediasoup's store of packets, which it would repeat over a full path.
    if (this.isPaused) await this.consumer.pause()
    await this.consumer.setPreferredLayers(consumerLayersOf(this.layer))
    if (!this.isPaused && this.consumer.paused) await this.consumer.resume()
  }

  #followTrial(): void {
    const rate = this.#choice.trialRate
    if (rate === undefined) this.#endTrial()
    else {
      this.#packets ??= this.#beginTrial()
      this.#packets.setRate(rate)
    }
  }

  #beginTrial() {
    const { forwarding, program, trials, clock } = this.#deps
    trials.add(this)
    const { router, transport } = forwarding.sink.line
    const packets = new TrialPackets({ router, transport, clock })
    const unlisten = program.beforeLow(() => packets.beforeFrame())
    return {
      setRate: (rate: number) => packets.setRate(rate),
      close: () => {
        unlisten()
        packets.close()
      },
    }
  }

  #endTrial(): void {
    this.#deps.trials.delete(this)
    this.#packets?.close()
    this.#packets = undefined
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
