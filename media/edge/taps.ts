import type { Transferable } from 'node:worker_threads'
import { guard } from '../guard.ts'
import type {
  BackgroundSound,
  ItemPosition,
  MediaPort,
  ReflexRequest,
  Tap,
  TapEvent,
  TapFrame,
  TapRequest,
} from '../types.ts'
import type { Command, PortNumber, TapAct } from './protocol.ts'

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

  cut(tap: number, request: number, positions: readonly ItemPosition[]): void {
    this.#taps.get(tap)?.wasCut(request, positions)
  }

  event(tap: number, event: TapEvent): void {
    this.#taps.get(tap)?.event(event)
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
  #onEvent: ((event: TapEvent) => void) | undefined
  #onClosed: (() => void) | undefined
  #requests = 0
  #spoken = new Map<number, () => void>()
  #cuts = new Map<number, (positions: readonly ItemPosition[]) => void>()
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

  onEvent(listener: (event: TapEvent) => void): void {
    this.#onEvent = guard(listener)
  }

  speak(samples: Int16Array, item?: number): void {
    // Copied because the samples may be a view of a larger buffer that the caller still owns.
    const copy = samples.slice()
    this.#act({ op: 'speak', samples: copy, item }, [copy.buffer as ArrayBuffer])
  }

  finish(item: number): void {
    this.#act({ op: 'finishItem', item })
  }

  pause(fadeMs?: number): void {
    this.#act({ op: 'pauseSpeech', fadeMs })
  }

  resume(fadeMs?: number): void {
    this.#act({ op: 'resumeSpeech', fadeMs })
  }

  cut(): Promise<readonly ItemPosition[]> {
    if (this.#state !== 'open') return Promise.resolve([])
    const request = ++this.#requests
    this.#act({ op: 'cutSpeech', request })
    return new Promise((resolve) => this.#cuts.set(request, resolve))
  }

  setReflex(reflex: ReflexRequest | undefined): void {
    this.#act({ op: 'setReflex', reflex })
  }

  allowFade(isAllowed: boolean): void {
    this.#act({ op: 'allowFade', isAllowed })
  }

  background(sound: BackgroundSound | undefined): void {
    this.#act({ op: 'background', sound })
  }

  clear(): void {
    this.#act({ op: 'clearSpeech' })
  }

  spoken(): Promise<void> {
    if (this.#state !== 'open') return Promise.resolve()
    const request = ++this.#requests
    this.#act({ op: 'spoken', request })
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
    this.#act({ op: 'closeTap' })
    this.#state = 'closing'
    this.#settle()
  }

  frame(frame: TapFrame): void {
    if (this.#state === 'open') this.#onFrame?.(frame)
  }

  event(event: TapEvent): void {
    if (this.#state === 'open') this.#onEvent?.(event)
  }

  wasCut(request: number, positions: readonly ItemPosition[]): void {
    this.#cuts.get(request)?.(positions)
    this.#cuts.delete(request)
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

  /** Sends a command of the tap to the thread while it is open. */
  #act(act: TapAct, moved?: readonly Transferable[]): void {
    if (this.#state === 'open') this.#send({ ...act, port: this.#port, tap: this.#tap }, moved)
  }

  #settle(): void {
    const spoken = [...this.#spoken.values()]
    const cuts = [...this.#cuts.values()]
    this.#spoken.clear()
    this.#cuts.clear()
    for (const settle of spoken) settle()
    for (const settle of cuts) settle([])
  }
}
