import { backOffMs } from '../back-off.ts'
import type { MediaClock, MediaTimer } from '../clock.ts'
import type { ComposerCommand, ComposerReport } from './composer-protocol.ts'
import type { PacketRecord } from './packet-records.ts'
import type { ComposerHandle, SpareComposer } from './spare-composer.ts'

/** A picture as its process knows it. */
export interface SlotPicture {
  /** Share of a core over the last second. */
  setLoad(load: number): void
  setPort(port: number): void
  /** Called when a new source has its first picture. */
  setPictured(id: string): void
  /** Called when the packets of a source have given no picture for 4 s, despite a key frame request. */
  setStalled(id: string): void
  /** Called if the process cannot open the picture. */
  fail(reason: Error): void
  deliver(record: PacketRecord): void
  /** Called when the process has died. */
  lose(reason: Error): void
}

/** Values and collaborators of a {@link ComposerSlot}. */
export interface ComposerSlotOptions {
  readonly clock: MediaClock
  /** Process that is ready to take the place of a dead one. */
  readonly spare: Pick<SpareComposer, 'take'>
  readonly onDeath: (reason: Error) => void
}

/** Run time in ms after which a death no longer counts as a consequence of the ones before. */
const stableMs = 60_000
/** Load that a picture is expected to cause, until its process reports the next time. */
const expectedLoad = 0.3

/** Returns the wait before a start after a number of deaths in a row: none, 0.5 s, 1 s, up to 30 s. */
export const restartDelayMs = (deaths: number): number => backOffMs(deaths - 1)

/** Place of one composing process. The process starts with the first picture, and again after a death. */
export class ComposerSlot {
  readonly #options: ComposerSlotOptions
  readonly #pictures = new Map<number, SlotPicture>()
  #child: ComposerHandle | undefined
  #ready: PromiseWithResolvers<void> | undefined
  #restart: MediaTimer | undefined
  #startedAt = 0
  #deaths = 0
  #load = 0
  /** Pictures that were opened since the last report of the load. */
  #recent = 0

  constructor(options: ComposerSlotOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#child !== undefined
  }

  /** Share of a core over the last second. */
  get load(): number {
    return this.#load
  }

  /** Load with the pictures that it does not include yet. */
  get expectedLoad(): number {
    return this.#load + this.#recent * expectedLoad
  }

  /** Adds a picture; the next command opens it. Resolves when the process runs. */
  async add(room: number, picture: SlotPicture): Promise<void> {
    this.#recent++
    await this.#start()
    this.#pictures.set(room, picture)
  }

  /** Removes a picture, and closes it in the process. */
  remove(room: number): void {
    if (this.#pictures.delete(room)) this.send({ op: 'close', room })
  }

  /** Sends a command; no effect if the process does not run. */
  send(command: ComposerCommand): void {
    this.#child?.send(command)
  }

  /** Ends the process. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#restart?.cancel()
    const child = this.#child
    this.#child = undefined
    this.#ready?.reject(new Error('the composers are closed'))
    await child?.end()
  }

  #start(): Promise<void> {
    if (this.#ready) return this.#ready.promise
    const ready = Promise.withResolvers<void>()
    this.#ready = ready
    const delay = restartDelayMs(this.#deaths)
    if (delay === 0) this.#fork()
    else this.#restart = this.#options.clock.after(delay, () => this.#fork())
    return ready.promise
  }

  #fork(): void {
    const { clock, spare } = this.#options
    this.#startedAt = clock.now()
    try {
      this.#child = spare.take({
        onReport: (report) => this.#receive(report),
        onRecord: (record) => this.#pictures.get(record.room)?.deliver(record),
        onDeath: (reason) => this.#died(reason),
      })
    } catch (error) {
      this.#died(error as Error)
    }
    if (this.#child?.isReady) this.#ready?.resolve()
  }

  #receive(report: ComposerReport): void {
    if (report.op === 'ready') this.#ready?.resolve()
    else if (report.op === 'opened') this.#pictures.get(report.room)?.setPort(report.port)
    else if (report.op === 'pictured') this.#pictures.get(report.room)?.setPictured(report.id)
    else if (report.op === 'stalled') this.#pictures.get(report.room)?.setStalled(report.id)
    else if (report.op === 'failed') this.#pictures.get(report.room)?.fail(new Error(report.reason))
    else {
      this.#load = report.load
      this.#recent = 0
      for (const { room, load } of report.rooms) this.#pictures.get(room)?.setLoad(load)
    }
  }

  #died(reason: Error): void {
    const isStable = this.#options.clock.now() - this.#startedAt >= stableMs
    this.#deaths = isStable ? 1 : this.#deaths + 1
    this.#child = undefined
    this.#load = 0
    this.#recent = 0
    // Pictures that wait for the start fail with the reason.
    this.#ready?.reject(reason)
    this.#ready = undefined
    const lost = [...this.#pictures.values()]
    this.#pictures.clear()
    for (const picture of lost) picture.lose(reason)
    this.#options.onDeath(reason)
  }
}
