import type { MediaClock, MediaTimer } from '../clock.ts'
import type { BindSocket, PortSocket } from '../edge/sockets.ts'
import { type ComposerCommand, type ComposerReport, maxRooms, maxSources } from './composer-protocol.ts'
import { writeRecords } from './packet-records.ts'
import type { PicturesAddon } from './pictures.ts'
import { RoomComposer } from './room-composer.ts'

/** Address of all sockets: packets come from the media of the same machine only. */
const loopback = '127.0.0.1'
const usageMs = 1000
/** Bytes that may wait in the pipe to the gateway; frames are dropped beyond. */
const maxWaitingBytes = 4 << 20

/** Collaborators of a {@link ComposerServer}. */
export interface ComposerServerDeps {
  readonly addon: PicturesAddon
  readonly clock: MediaClock
  readonly bind: BindSocket
  readonly report: (report: ComposerReport) => void
  /** Pipe to the gateway. */
  readonly output: { write(records: Buffer): unknown; readonly writableLength: number }
  /** Returns the CPU time of this thread, in µs. */
  readonly threadTime: () => number
  /** Returns the CPU time of the process, in µs. */
  readonly processTime: () => number
}

interface OpenRoom {
  readonly composer: RoomComposer
  readonly socket: PortSocket
  readonly sources: Set<string>
}

/** Content of a composing process: its rooms with their sockets, controlled by commands. */
export class ComposerServer {
  readonly #deps: ComposerServerDeps
  readonly #rooms = new Map<number, OpenRoom>()
  /** Rooms whose socket is being bound; `false` once they were closed meanwhile. */
  readonly #opening = new Map<number, boolean>()
  #timer: MediaTimer
  #lastAt: number
  #lastTime: number

  constructor(deps: ComposerServerDeps) {
    this.#deps = deps
    this.#lastAt = deps.clock.now()
    this.#lastTime = deps.processTime()
    this.#timer = deps.clock.after(usageMs, () => this.#reportUsage())
  }

  /** Number of rooms. */
  get size(): number {
    return this.#rooms.size + this.#opening.size
  }

  /** Executes a command. Commands for a closed room are ignored. */
  async run(command: Exclude<ComposerCommand, { op: 'end' }>): Promise<void> {
    if (command.op === 'open') return this.#open(command)
    if (command.op === 'close') return this.#close(command.room)
    const room = this.#rooms.get(command.room)
    if (room) this.#apply(room, command)
  }

  /** Closes all rooms, so that nothing keeps the process alive. */
  async end(): Promise<void> {
    this.#timer.cancel()
    for (const room of this.#opening.keys()) this.#opening.set(room, false)
    await Promise.all([...this.#rooms.keys()].map((room) => this.#close(room)))
  }

  #apply(
    { composer, sources }: OpenRoom,
    command: Extract<ComposerCommand, { op: 'addSource' | 'removeSource' | 'draw' | 'low' | 'keyFrame' }>,
  ): void {
    switch (command.op) {
      case 'addSource': {
        const { id, ssrc, payloadType, port } = command
        if (sources.size >= maxSources && !sources.has(id)) return
        sources.add(id)
        composer.addSource(id, ssrc, payloadType, port)
        return
      }
      case 'removeSource':
        sources.delete(command.id)
        composer.removeSource(command.id)
        return
      case 'draw':
        composer.draw(command.layers, command.canvas)
        return
      case 'low':
        composer.enableLow(command.isEnabled)
        return
      case 'keyFrame':
        composer.requestKeyFrame(command.rendition)
    }
  }

  async #open(command: Extract<ComposerCommand, { op: 'open' }>): Promise<void> {
    const { room } = command
    const { bind, report } = this.#deps
    if (this.#rooms.has(room) || this.#opening.has(room)) return
    if (this.size >= maxRooms) return report({ op: 'failed', room, reason: 'too many pictures' })
    this.#opening.set(room, true)
    let socket: PortSocket | undefined
    try {
      socket = await bind(loopback, 0, (packet, address, port) => {
        if (address === loopback) this.#rooms.get(room)?.composer.receive(packet, port)
      })
      if (this.#opening.get(room)) this.#start(command, socket)
      else await socket.close()
    } catch (error) {
      await socket?.close()
      report({ op: 'failed', room, reason: (error as Error).message.slice(0, 1000) })
    } finally {
      this.#opening.delete(room)
    }
  }

  #start(command: Extract<ComposerCommand, { op: 'open' }>, socket: PortSocket): void {
    const { room } = command
    const { addon, clock, output, threadTime, report } = this.#deps
    const composer = new RoomComposer(
      {
        addon,
        clock,
        cpuTime: threadTime,
        send: (rendition, packets, kind) => {
          if (output.writableLength > maxWaitingBytes) return composer.requestKeyFrame(rendition)
          output.write(writeRecords(room, rendition, kind, packets))
        },
        onPictured: (id) => report({ op: 'pictured', room, id }),
        onStalled: (id) => report({ op: 'stalled', room, id }),
        sendFeedback: (packet, port) => socket.send(packet, 0, packet.length, port, loopback),
      },
      command,
    )
    this.#rooms.set(room, { composer, socket, sources: new Set() })
    report({ op: 'opened', room, port: socket.port })
  }

  async #close(room: number): Promise<void> {
    if (this.#opening.has(room)) this.#opening.set(room, false)
    const open = this.#rooms.get(room)
    if (!open) return
    this.#rooms.delete(room)
    open.composer.close()
    await open.socket.close()
  }

  #reportUsage(): void {
    const { clock, processTime, report } = this.#deps
    const now = clock.now()
    const time = processTime()
    const elapsedUs = Math.max(1, (now - this.#lastAt) * 1000)
    const rooms = [...this.#rooms].map(([room, { composer }]) => {
      const { cpuUs, frames } = composer.takeUsage()
      return { room, load: cpuUs / elapsedUs, rate: (frames * 1e6) / elapsedUs }
    })
    report({ op: 'usage', load: (time - this.#lastTime) / elapsedUs, rooms })
    this.#lastAt = now
    this.#lastTime = time
    this.#timer = clock.after(usageMs, () => this.#reportUsage())
  }
}
