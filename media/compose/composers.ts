import { randomInt, randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { type MediaClock, systemClock } from '../clock.ts'
import { guard } from '../guard.ts'
import type { ComposedPicture, ComposedPictureOptions, Composers, Rendition } from '../types.ts'
import { RemotePicture } from './composed-picture.ts'
import { ComposerChild } from './composer-child.ts'
import { type ComposerCommand, readCommand } from './composer-protocol.ts'
import { ComposerSlot } from './composer-slot.ts'
import { composerReason } from './pictures.ts'
import { SpareComposer } from './spare-composer.ts'

/** Settings of {@link createComposers}. */
export interface ComposersOptions {
  /**
   * Maximum number of processes; default one per core. A process starts when it is needed. A further one is
   * kept ready while there are pictures.
   */
  readonly processes?: number
  /** Nice value of the processes, 0 to 19; default 5, so that audio comes first. */
  readonly nice?: number
  /** Called for each death of a process, after the listeners of its pictures. */
  readonly onDeath?: (reason: Error) => void
  /** Default the system's clock. */
  readonly clock?: MediaClock
}

/** Load that a process causes by its start; a running process below it gets the next picture. */
const startLoad = 0.25
const defaultPayloadType = 96
const defaultKbps = { low: 200, high: 1500 } as const

const openCommand = (
  room: number,
  {
    payloadType = defaultPayloadType,
    ssrcs,
    cname = randomUUID(),
    kbps = defaultKbps,
  }: ComposedPictureOptions,
): Extract<ComposerCommand, { op: 'open' }> => {
  const stream = (rendition: Rendition) => ({
    ssrc: ssrcs?.[rendition] ?? randomInt(1, 0x1_0000_0000),
    payloadType,
    cname,
    // The first half, so that no roll-over comes with the first packets.
    sequence: randomInt(0x8000),
    timestamp: randomInt(0x8000_0000),
    pictureId: randomInt(0x4000),
  })
  const command = { op: 'open', room, streams: { low: stream('low'), high: stream('high') }, kbps } as const
  readCommand(command)
  return command
}

class LocalComposers implements Composers {
  readonly unavailable: string | undefined
  readonly #slots: readonly ComposerSlot[]
  readonly #spare: SpareComposer
  readonly #pictures = new Set<RemotePicture>()
  #room = 0
  #isClosed = false

  constructor({ processes, nice = 5, onDeath = () => {}, clock = systemClock }: ComposersOptions) {
    this.unavailable = composerReason()
    const count = Math.max(1, processes ?? availableParallelism())
    const spare = new SpareComposer({
      clock,
      fork: (listener) => new ComposerChild({ clock, nice }, listener),
      onDeath: guard(onDeath),
    })
    this.#spare = spare
    this.#slots = Array.from(
      { length: count },
      () => new ComposerSlot({ clock, spare, onDeath: guard(onDeath) }),
    )
  }

  get load(): number {
    return this.#nextSlot().expectedLoad
  }

  async open(options: ComposedPictureOptions = {}): Promise<ComposedPicture> {
    if (this.unavailable !== undefined) throw new Error(this.unavailable)
    if (this.#isClosed) throw new Error('the composers are closed')
    const command = openCommand(++this.#room, options)
    const slot = this.#nextSlot()
    const picture = new RemotePicture(slot, command, () => {
      this.#pictures.delete(picture)
      this.#spare.keep(this.#pictures.size > 0)
    })
    this.#pictures.add(picture)
    this.#spare.keep(true)
    try {
      await slot.add(command.room, picture)
      slot.send(command)
      await picture.opened
    } catch (error) {
      await picture.close()
      throw error
    }
    return picture
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#pictures].map((picture) => picture.close()))
    await Promise.all([this.#spare, ...this.#slots].map((each) => each.close()))
  }

  /** Returns the least busy process; one that does not run yet counts with the load of its start. */
  #nextSlot(): ComposerSlot {
    const loadOf = (slot: ComposerSlot) => (slot.isRunning ? slot.expectedLoad : startLoad)
    return this.#slots.reduce((best, slot) => (loadOf(slot) < loadOf(best) ? slot : best))
  }
}

/**
 * Creates the processes that compose pictures; they start with the pictures. Without the addon, `unavailable`
 * has the reason, and no picture can be opened.
 */
export const createComposers = (options: ComposersOptions = {}): Composers => new LocalComposers(options)
