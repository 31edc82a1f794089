import type { MediaClock, MediaTimer } from '../clock.ts'
import { isRtcp } from '../rtp/packet.ts'
import type { CanvasSize, ComposedLayer, Rendition } from '../types.ts'
import { CanvasPainter } from './canvas-painter.ts'
import { FramePace } from './frame-pace.ts'
import { canvasBytes, type PicturesAddon } from './pictures.ts'
import { RenditionEncoder } from './rendition-encoder.ts'
import { type Tile, tilesOf } from './tiles.ts'
import { VideoSource } from './video-source.ts'
import { unitsPerMs, Vp8Packetizer, type Vp8StreamOptions } from './vp8-packetizer.ts'

/** Frames per second of a moving picture with few sources, with many, and with a canvas above 720p. */
const fewRate = 30
const manyRate = 20
const largeRate = 15
/** Maximum number of visible sources that are few. */
const few = 4
/** Time between frames of a picture in which nothing changes, in ms. They improve its quality. */
const stillMs = 200
const usualCanvas: CanvasSize = { width: 1280, height: 720 }
/** Width of the rendition `low`. */
const lowWidth = 640
/** Minimum time between frames of the rendition `low`, in ms: every second frame of 30, every one of 20. */
const minLowMs = 45
/** Larger canvases get this part more of the bit rate. */
const largeShare = 1.5

/** Values of a {@link RoomComposer}. */
export interface RoomComposerOptions {
  readonly streams: Readonly<Record<Rendition, Vp8StreamOptions>>
  /** kbit/s. */
  readonly kbps: Readonly<Record<Rendition, number>>
}

/** Collaborators of a {@link RoomComposer}. */
export interface RoomComposerDeps {
  readonly addon: PicturesAddon
  readonly clock: MediaClock
  readonly send: (rendition: Rendition, packets: readonly Buffer[], kind: 'rtp' | 'rtcp') => void
  /** Sends a packet to a port on 127.0.0.1. */
  readonly sendFeedback: (packet: Buffer, port: number) => void
  /** Called with the id of each new source when it has its first picture. */
  readonly onPictured: (id: string) => void
  /** Called with the id of a source whose packets give no picture. */
  readonly onStalled: (id: string) => void
  /** Returns the CPU time of this thread, in µs. */
  readonly cpuTime: () => number
}

/** A source with the port that it sends from. */
interface RoomSource {
  readonly video: VideoSource
  readonly ssrc: number
  readonly port: number
}

const isLarge = ({ width, height }: CanvasSize): boolean =>
  width * height > usualCanvas.width * usualCanvas.height

/** Returns the size of the rendition `low` of a canvas. */
const lowSizeOf = ({ width, height }: CanvasSize): CanvasSize => {
  const factor = Math.min(1, lowWidth / width)
  const scaled = (side: number) => Math.max(16, 2 * Math.round((side * factor) / 2))
  return { width: scaled(width), height: scaled(height) }
}

/** The picture of one room: sources, canvas and renditions, without sockets. */
export class RoomComposer {
  readonly #deps: RoomComposerDeps
  readonly #kbps: RoomComposerOptions['kbps']
  readonly #sources = new Map<string, RoomSource>()
  readonly #bySsrc = new Map<number, RoomSource>()
  readonly #high: RenditionEncoder
  readonly #low: RenditionEncoder
  readonly #began: number
  #painter: CanvasPainter
  #tiles: readonly Tile[] = []
  #lowCanvas: Uint8Array
  #isLowEnabled = false
  /** Whether the canvas of `low` is older than the other one. */
  #isLowStale = true
  #lowAt = Number.NEGATIVE_INFINITY
  #isChanged = true
  #units = -1
  readonly #pace: FramePace
  #timer: { readonly at: number; readonly timer: MediaTimer } | undefined
  #spent = 0
  #frames = 0

  constructor(deps: RoomComposerDeps, { streams, kbps }: RoomComposerOptions) {
    this.#deps = deps
    this.#kbps = kbps
    this.#began = deps.clock.now()
    this.#pace = new FramePace(this.#began - stillMs)
    this.#painter = new CanvasPainter(deps.addon, usualCanvas)
    const rendition = (name: Rendition, size: CanvasSize) =>
      new RenditionEncoder({
        addon: deps.addon,
        size,
        kbps: kbps[name],
        packetizer: new Vp8Packetizer(streams[name]),
        send: (packets, kind) => deps.send(name, packets, kind),
      })
    const low = lowSizeOf(usualCanvas)
    this.#high = rendition('high', usualCanvas)
    this.#low = rendition('low', low)
    this.#lowCanvas = new Uint8Array(canvasBytes(low.width, low.height))
    this.#plan()
  }

  /** Adds a source, or replaces the one with this id, and requests a key frame. */
  addSource(id: string, ssrc: number, payloadType: number, port: number): void {
    this.removeSource(id)
    const { addon, clock, sendFeedback, onPictured, onStalled } = this.#deps
    const video: VideoSource = new VideoSource({
      addon,
      ssrc,
      payloadType,
      onPicture: () => {
        if (video.pictures === 1) onPictured(id)
        if (!this.#tiles.some(({ memberId, isVisible }) => isVisible && memberId === id)) return
        this.#pace.arrived(id, clock.now())
        this.#change()
      },
      onStalled: () => onStalled(id),
      sendFeedback: (packet) => sendFeedback(packet, port),
    })
    const source = { video, ssrc, port }
    this.#sources.set(id, source)
    this.#bySsrc.set(ssrc, source)
    video.requestKey(clock.now())
  }

  /** Removes a source; its tile becomes plain. No effect if unknown. */
  removeSource(id: string): void {
    const source = this.#sources.get(id)
    if (!source) return
    this.#sources.delete(id)
    if (this.#bySsrc.get(source.ssrc) === source) this.#bySsrc.delete(source.ssrc)
    source.video.close()
    this.#change()
  }

  /** Changes the layers and the canvas. */
  draw(layers: readonly ComposedLayer[], canvas: CanvasSize = usualCanvas): void {
    const { size } = this.#painter
    if (canvas.width !== size.width || canvas.height !== size.height) this.#resize(canvas)
    this.#tiles = tilesOf(layers, canvas)
    this.#painter.show(this.#tiles)
    this.#change()
  }

  /** Sets whether the rendition `low` is encoded; it begins with a key frame. */
  enableLow(isEnabled: boolean): void {
    if (isEnabled && !this.#isLowEnabled) this.#low.begin()
    this.#isLowEnabled = isEnabled
    this.#plan()
  }

  /** Requests a key frame of a rendition, or of both. */
  requestKeyFrame(rendition?: Rendition): void {
    if (rendition !== 'low') this.#high.requestKey()
    if (rendition !== 'high') this.#low.requestKey()
    this.#plan()
  }

  /**
   * Processes a packet from a port on 127.0.0.1. Packets of unknown SSRCs or from other ports are ignored.
   */
  receive(packet: Buffer, port: number): void {
    if (packet.length < 12 || isRtcp(packet)) return
    const source = this.#bySsrc.get(packet.readUInt32BE(8))
    if (source?.port === port) this.#metered(() => source.video.receive(this.#deps.clock.now(), packet))
  }

  /** Returns the CPU time in µs and the frames of the rendition `high` since the last call. */
  takeUsage(): { readonly cpuUs: number; readonly frames: number } {
    const usage = { cpuUs: this.#spent, frames: this.#frames }
    this.#spent = 0
    this.#frames = 0
    return usage
  }

  /** Frees everything; nothing is sent afterwards. */
  close(): void {
    this.#timer?.timer.cancel()
    for (const id of [...this.#sources.keys()]) this.removeSource(id)
    this.#timer?.timer.cancel()
    this.#high.close()
    this.#low.close()
  }

  #resize(canvas: CanvasSize): void {
    const share = isLarge(canvas) ? largeShare : 1
    const low = lowSizeOf(canvas)
    this.#painter = new CanvasPainter(this.#deps.addon, canvas)
    this.#lowCanvas = new Uint8Array(canvasBytes(low.width, low.height))
    this.#isLowStale = true
    this.#high.change(canvas, Math.round(this.#kbps.high * share))
    this.#low.change(low, this.#kbps.low)
  }

  #change(): void {
    this.#isChanged = true
    this.#plan()
  }

  /** Time between frames while the picture moves, in ms. */
  #movingMs(): number {
    if (isLarge(this.#painter.size)) return 1000 / largeRate
    const visible = this.#tiles.filter(({ isVisible, memberId }) => isVisible && this.#sources.has(memberId))
    return 1000 / (visible.length > few ? manyRate : fewRate)
  }

  /** Sets the timer for the next frame. */
  #plan(): void {
    const soonest = this.#pace.soonest(this.#movingMs())
    const keys = [this.#high.keyDueAt, this.#isLowEnabled ? this.#low.keyDueAt : undefined].filter(
      (at) => at !== undefined,
    )
    const key = Math.max(soonest, Math.min(...keys, Number.POSITIVE_INFINITY))
    const at = this.#isChanged ? soonest : Math.min(key, this.#pace.lastAt + stillMs)
    if (this.#timer?.at === at) return
    this.#timer?.timer.cancel()
    const { clock } = this.#deps
    // The system drops fractions: a frame would be early, and the next one earlier.
    const timer = clock.after(Math.max(0, Math.ceil(at - clock.now())), () => {
      this.#timer = undefined
      this.#metered(() => this.#frame(at))
      this.#plan()
    })
    this.#timer = { at, timer }
  }

  #frame(dueAt: number): void {
    const now = this.#deps.clock.now()
    this.#pace.drawn(now, dueAt, this.#movingMs())
    for (const { video } of this.#sources.values()) video.tick(now)
    if (this.#isChanged) this.#paint()
    this.#isChanged = false
    this.#units = Math.max(this.#units + 1, Math.round((now - this.#began) * unitsPerMs))
    this.#high.encode(now, this.#units, this.#painter.bytes)
    if (this.#isLowEnabled) this.#encodeLow(now)
    this.#frames++
  }

  #paint(): void {
    this.#painter.paint((id) => this.#sources.get(id)?.video)
    this.#isLowStale = true
  }

  #encodeLow(now: number): void {
    const isKeyDue = (this.#low.keyDueAt ?? Number.POSITIVE_INFINITY) <= now
    if (now - this.#lowAt < minLowMs && !isKeyDue) return
    this.#lowAt = now
    const { size, bytes } = this.#painter
    const { width, height } = this.#low.size
    if (this.#isLowStale)
      this.#deps.addon.scale(this.#lowCanvas, width, height, bytes, size.width, size.height)
    this.#isLowStale = false
    this.#low.encode(now, this.#units, this.#lowCanvas)
  }

  #metered(work: () => void): void {
    const before = this.#deps.cpuTime()
    work()
    this.#spent += this.#deps.cpuTime() - before
  }
}
