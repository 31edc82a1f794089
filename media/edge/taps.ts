import type { Transferable } from 'node:worker_threads'
import { guard } from '../guard.ts'
import type { MediaPort, Tap, TapFrame, TapRequest } from '../types.ts'
import type { Command, PortNumber } from './protocol.ts'

/** Sends a command to the thread; `moved` is transferred rather than copied. */
type Send = (command: Command, moved?: readonly Transferable[]) => void

/** Returns the number of an open port of the thread. */
type NumberOf = (port: MediaPort) => PortNumber | undefined

/** Handles of the taps in one media thread. */
export class Taps {
  #send: Send
  #number: () => number
  #numberOf: NumberOf
  #taps = new Map<number, EdgeTap>()

  /** `number` returns an unused number. */
  constructor(send: Send, number: () => number, numberOf: NumberOf) {
    this.#send = send
    this.#number = number
    this.#numberOf = numberOf
  }

  /** Number of open taps. */
  get size(): number {
    return this.#taps.size
  }

  open(port: PortNumber, request: TapRequest): Tap {
    const tap = this.#number()
    const handle = new EdgeTap(port, tap, this.#send, this.#numberOf)
    this.#taps.set(tap, handle)
    this.#send({ op: 'tap', port, tap, request })
    return handle
  }

  frame(tap: number, frame: TapFrame): void {
    this.#taps.get(tap)?.frame(frame)
  }

  spoken(tap: number, request: number): void {
    this.#taps.get(tap)?.wasSpoken(request)
  }

  /** Processes the thread's report that a tap was closed. */
  closed(tap: number): void {
    const handle = this.#taps.get(tap)
    this.#taps.delete(tap)
    handle?.end()
  }

  /** Ends all taps after the death of the thread. */
  die(): void {
    for (const tap of [...this.#taps.keys()]) this.closed(tap)
  }
}

/** Returns a tap on a closed port. */
export function noTap(): Tap {
  const tap = new EdgeTap(
    0,
    0,
    () => {},
    () => undefined,
  )
  tap.end()
  return tap
}

class EdgeTap implements Tap {
  #port: PortNumber
  #tap: number
  #send: Send
  #numberOf: NumberOf
  #onFrame: ((frame: TapFrame) => void) | undefined
  #onClosed: (() => void) | undefined
  #requests = 0
  #spoken = new Map<number, () => void>()
  /** `closing`: closed by the owner, not yet confirmed by the thread. */
  #state: 'open' | 'closing' | 'closed' = 'open'

  constructor(port: PortNumber, tap: number, send: Send, numberOf: NumberOf) {
    this.#port = port
    this.#tap = tap
    this.#send = send
    this.#numberOf = numberOf
  }

  onFrame(listener: (frame: TapFrame) => void): void {
    this.#onFrame = guard(listener)
  }

  speak(samples: Int16Array): void {
    if (this.#state !== 'open') return
    // Copied because the samples may be a view of a larger buffer that the caller still owns.
    const copy = samples.slice()
    this.#send({ op: 'speak', port: this.#port, tap: this.#tap, samples: copy }, [copy.buffer as ArrayBuffer])
  }

  clear(): void {
    if (this.#state === 'open') this.#send({ op: 'clearSpeech', port: this.#port, tap: this.#tap })
  }

  spoken(): Promise<void> {
    if (this.#state !== 'open') return Promise.resolve()
    const request = ++this.#requests
    this.#send({ op: 'spoken', port: this.#port, tap: this.#tap, request })
    return new Promise((resolve) => this.#spoken.set(request, resolve))
  }

  onClosed(listener: () => void): void {
    this.#onClosed = guard(listener)
  }

  moveTo(port: MediaPort): void {
    const next = this.#numberOf(port)
    if (next === undefined || next === this.#port || this.#state !== 'open') return
    this.#port = next
    this.#send({ op: 'move', port: next, listener: this.#tap })
  }

  close(): void {
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#send({ op: 'closeTap', port: this.#port, tap: this.#tap })
    this.#settle()
  }

  frame(frame: TapFrame): void {
    if (this.#state === 'open') this.#onFrame?.(frame)
  }

  wasSpoken(request: number): void {
    this.#spoken.get(request)?.()
    this.#spoken.delete(request)
  }

  /** Ends the tap; calls the listener unless the owner closed it. */
  end(): void {
    const wasOpen = this.#state === 'open'
    this.#state = 'closed'
    this.#settle()
    if (wasOpen) this.#onClosed?.()
  }

  #settle(): void {
    const spoken = [...this.#spoken.values()]
    this.#spoken.clear()
    for (const settle of spoken) settle()
  }
}
