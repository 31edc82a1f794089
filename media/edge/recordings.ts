import type { MediaPort, Recording, RecordingResult, RecordRequest } from '../types.ts'
import type { Command, PortNumber, RecordingControl } from './protocol.ts'

/**
 * Handles of the recordings in one media thread. Recordings outlive their ports until the files are complete.
 */
export class Recordings {
  #send: (command: Command) => void
  #number: () => number
  #numberOf: (port: MediaPort) => PortNumber | undefined
  #settle = new Map<number, (result: RecordingResult) => void>()
  #pending = new Map<number, Promise<RecordingResult>>()

  /** `number` returns an unused number; `numberOf` the number of an open port of this thread. */
  constructor(
    send: (command: Command) => void,
    number: () => number,
    numberOf: (port: MediaPort) => PortNumber | undefined,
  ) {
    this.#send = send
    this.#number = number
    this.#numberOf = numberOf
  }

  /** Number of incomplete recordings. */
  get size(): number {
    return this.#settle.size
  }

  /** Results of the incomplete recordings. */
  get pending(): Promise<RecordingResult>[] {
    return [...this.#pending.values()]
  }

  /** Starts recording a port or a mixer. */
  start(port: PortNumber, request: RecordRequest): Recording {
    const record = this.#number()
    const { promise: done, resolve } = Promise.withResolvers<RecordingResult>()
    this.#settle.set(record, resolve)
    this.#pending.set(record, done)
    this.#send({ op: 'record', port, record, request })
    let at = port
    const act = (what: RecordingControl) => {
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

  /** Processes the thread's report that a recording is complete. */
  recorded(record: number, result: RecordingResult): void {
    this.#settle.get(record)?.(result)
    this.#settle.delete(record)
    this.#pending.delete(record)
  }

  /**
   * Fails the incomplete recordings after the death of the thread. Their partial files remain beside the
   * target under their temporary names.
   */
  die(message: string): void {
    const settle = [...this.#settle.values()]
    this.#settle.clear()
    this.#pending.clear()
    for (const each of settle)
      each({ end: { kind: 'error', code: 'failed', message }, durationMs: 0, bytes: 0, hasFile: false })
  }
}

/** Returns a recording on a closed port, which has ended already. */
export function noRecording(): Recording {
  const result: RecordingResult = { end: { kind: 'stopped' }, durationMs: 0, bytes: 0, hasFile: false }
  const nothing = () => {}
  return { done: Promise.resolve(result), pause: nothing, resume: nothing, stop: nothing, moveTo: nothing }
}
