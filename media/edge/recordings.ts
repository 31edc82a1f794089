import type { MediaPort, Recording, RecordingResult, RecordRequest } from '../types.ts'
import type { Command, PortNumber, RecordingAct } from './protocol.ts'

/** The recordings of one media thread. They outlive their ports by the time that it takes to complete the files. */
export class Recordings {
  #send: (command: Command) => void
  #number: () => number
  #numberOf: (port: MediaPort) => PortNumber | undefined
  #settle = new Map<number, (result: RecordingResult) => void>()
  #pending = new Map<number, Promise<RecordingResult>>()

  /** `number` gives one that was never used, `numberOf` that of a port which is open in this thread. */
  constructor(
    send: (command: Command) => void,
    number: () => number,
    numberOf: (port: MediaPort) => PortNumber | undefined,
  ) {
    this.#send = send
    this.#number = number
    this.#numberOf = numberOf
  }

  /** How many are not complete. */
  get size(): number {
    return this.#settle.size
  }

  /** Of each of these. */
  get pending(): Promise<RecordingResult>[] {
    return [...this.#pending.values()]
  }

  /** Begins to record a port, or a mixer by its number. */
  start(port: PortNumber, request: RecordRequest): Recording {
    const record = this.#number()
    const { promise: done, resolve } = Promise.withResolvers<RecordingResult>()
    this.#settle.set(record, resolve)
    this.#pending.set(record, done)
    this.#send({ op: 'record', port, record, request })
    let at = port
    const act = (what: RecordingAct) => {
      if (this.#settle.has(record)) this.#send({ op: 'recording', port: at, record, act: what })
    }
    const moveTo = (to: MediaPort) => {
      const next = this.#numberOf(to)
      if (next === undefined || next === at || !this.#settle.has(record)) return
      at = next
      this.#send({ op: 'move', port: at, listener: record })
    }
    return { done, moveTo, pause: act, resume: () => act('resume'), stop: () => act('stop') }
  }

  /** The thread reports that one is complete. */
  recorded(record: number, result: RecordingResult): void {
    this.#settle.get(record)?.(result)
    this.#settle.delete(record)
    this.#pending.delete(record)
  }

  /** The thread is gone, and what was not complete with it. What it wrote lies beside the file's place, under its other name. */
  die(message: string): void {
    const settle = [...this.#settle.values()]
    this.#settle.clear()
    this.#pending.clear()
    for (const each of settle)
      each({ end: { kind: 'error', code: 'failed', message }, durationMs: 0, bytes: 0, kept: false })
  }
}

/** A recording on a port that is closed: over before it began. */
export function noRecording(): Recording {
  const result: RecordingResult = { end: { kind: 'stopped' }, durationMs: 0, bytes: 0, kept: false }
  const nothing = () => {}
  return { done: Promise.resolve(result), pause: nothing, resume: nothing, stop: nothing, moveTo: nothing }
}
