import { guard } from '../guard.ts'
import type {
  CanvasSize,
  ComposedLayer,
  ComposedLoad,
  ComposedPicture,
  ComposedSource,
  Rendition,
} from '../types.ts'
import { type ComposerCommand, readCommand } from './composer-protocol.ts'
import type { ComposerSlot, SlotPicture } from './composer-slot.ts'
import type { PacketRecord } from './packet-records.ts'

type PacketListener = (rendition: Rendition, packet: Buffer, kind: 'rtp' | 'rtcp') => void

/** The gateway's side of one picture. */
export class RemotePicture implements ComposedPicture, SlotPicture {
  readonly ssrcs: ComposedPicture['ssrcs']
  readonly payloadType: number
  readonly cname: string
  readonly #slot: ComposerSlot
  readonly #room: number
  readonly #onClose: () => void
  readonly #opened = Promise.withResolvers<number>()
  #packetListeners: PacketListener[] = []
  #picturedListeners: ((id: string) => void)[] = []
  #stalledListeners: ((id: string) => void)[] = []
  #lostListeners: ((reason: Error) => void)[] = []
  #load = 0
  #isClosed = false

  constructor(
    slot: ComposerSlot,
    open: Extract<ComposerCommand, { op: 'open' }>,
    /** Called when the picture has ended, in any way. */
    onClose: () => void,
  ) {
    const { room, streams } = open
    this.#slot = slot
    this.#room = room
    this.#onClose = onClose
    this.ssrcs = { low: streams.low.ssrc, high: streams.high.ssrc }
    this.payloadType = streams.high.payloadType
    this.cname = streams.high.cname
    // A rejection is for the caller of `opened`, if there is one.
    this.#opened.promise.catch(() => {})
  }

  /** Resolves with the port of the sources when the process has opened the picture. */
  get opened(): Promise<number> {
    return this.#opened.promise
  }

  get load(): ComposedLoad {
    return { picture: this.#load, process: this.#isClosed ? 0 : this.#slot.load }
  }

  async addSource(id: string, stream: ComposedSource): Promise<{ readonly port: number }> {
    const port = await this.#opened.promise
    if (this.#isClosed) throw new Error('the picture is closed')
    const { ssrc, payloadType, from } = stream
    this.#send({ op: 'addSource', room: this.#room, id, ssrc, payloadType, port: from.port })
    return { port }
  }

  removeSource(id: string): void {
    this.#send({ op: 'removeSource', room: this.#room, id })
  }

  draw(layers: readonly ComposedLayer[], canvas?: CanvasSize): void {
    this.#send({ op: 'draw', room: this.#room, layers, ...(canvas && { canvas }) })
  }

  enableLow(isEnabled: boolean): void {
    this.#send({ op: 'low', room: this.#room, isEnabled })
  }

  requestKeyFrame(rendition?: Rendition): void {
    this.#send({ op: 'keyFrame', room: this.#room, ...(rendition && { rendition }) })
  }

  onPacket(listener: PacketListener): void {
    this.#packetListeners.push(guard(listener))
  }

  onPictured(listener: (id: string) => void): void {
    this.#picturedListeners.push(guard(listener))
  }

  onStalled(listener: (id: string) => void): void {
    this.#stalledListeners.push(guard(listener))
  }

  onLost(listener: (reason: Error) => void): void {
    this.#lostListeners.push(guard(listener))
  }

  close(): Promise<void> {
    if (!this.#isClosed) this.#slot.remove(this.#room)
    this.#end(new Error('the picture is closed'))
    return Promise.resolve()
  }

  setLoad(load: number): void {
    this.#load = load
  }

  setPort(port: number): void {
    this.#opened.resolve(port)
  }

  setPictured(id: string): void {
    if (this.#isClosed) return
    for (const listener of this.#picturedListeners) listener(id)
  }

  setStalled(id: string): void {
    if (this.#isClosed) return
    for (const listener of this.#stalledListeners) listener(id)
  }

  fail(reason: Error): void {
    this.#opened.reject(reason)
    void this.close()
  }

  deliver({ rendition, packet, kind }: PacketRecord): void {
    if (this.#isClosed) return
    for (const listener of this.#packetListeners) listener(rendition, packet, kind)
  }

  /** Ends the picture because its process has died. */
  lose(reason: Error): void {
    if (this.#isClosed) return
    this.#end(reason)
    for (const listener of this.#lostListeners) listener(reason)
  }

  #end(reason: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#load = 0
    this.#opened.reject(reason)
    this.#onClose()
  }

  /**
   * Checks a command as its process will, so that a wrong one is the caller's error and not the process's.
   */
  #send(command: ComposerCommand): void {
    if (!this.#isClosed) this.#slot.send(readCommand(command))
  }
}
