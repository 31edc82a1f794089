import { RealtimeError } from './errors.ts'
import type { Values } from './wire.ts'

/** Part of a call that actions use. */
export interface ActionCall {
  /** Sends a request about this call. */
  ask(method: string, params: Values): Promise<Values>
  /** Passes every event with this control id to the watcher, until {@link forget}. */
  watch(controlId: string, watcher: Watcher): void
  forget(controlId: string): void
}

/** Receives the events of one action. */
export interface Watcher {
  event(type: string, params: Values): void
  /** Handles the loss of the call: no more events follow. */
  lost(error: RealtimeError): void
}

/** Running action of a call: a promise of its result, with methods that control it. */
export type Action<T> = Promise<T> & {
  /** Resolves when the action starts. */
  readonly started: Promise<void>
  /** Stops the action; the promise resolves with the result so far. */
  stop(): Promise<void>
}

/**
 * Meaning of an event: the action has started, finished with a result, or failed. Undefined for other events.
 */
export type Outcome<T> = { readonly begun: true } | { readonly result: T } | { readonly error: RealtimeError }

/** State of a running action. */
export class Doing<T> implements Watcher {
  readonly id: string
  readonly #call: ActionCall
  readonly #read: (type: string, params: Values) => Outcome<T> | undefined
  readonly #started = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<T>()

  /** `read` interprets the events. */
  constructor(
    call: ActionCall,
    read: (type: string, params: Values) => Outcome<T> | undefined,
    id = crypto.randomUUID() as string,
  ) {
    this.#call = call
    this.#read = read
    this.id = id
    // Prevents an unhandled rejection in applications that only await the end.
    this.#started.promise.catch(() => {})
  }

  /** Sends the request that starts the action. */
  begin(method: string, params: Values): this {
    this.#call.watch(this.id, this)
    this.#call.ask(method, { control_id: this.id, ...params }).catch((error) => this.#settle({ error }))
    return this
  }

  /** Sends a command to the running action. */
  async tell(method: string, params: Values = {}): Promise<void> {
    await this.#call.ask(method, { control_id: this.id, ...params })
  }

  /** Returns the promise for the application, with the action's methods. */
  with<M extends object>(stop: string, more: M): Action<T> & M {
    return Object.assign(this.#ended.promise, {
      started: this.#started.promise,
      stop: () => this.tell(stop),
      ...more,
    })
  }

  event(type: string, params: Values): void {
    const outcome = this.#read(type, params)
    if (outcome && 'begun' in outcome) this.#started.resolve()
    else if (outcome) this.#settle(outcome)
  }

  lost(error: RealtimeError): void {
    this.#settle({ error })
  }

  #settle(outcome: Exclude<Outcome<T>, { begun: true }>): void {
    this.#call.forget(this.id)
    if ('error' in outcome) {
      this.#started.reject(outcome.error)
      this.#ended.reject(outcome.error)
    } else {
      this.#started.resolve()
      this.#ended.resolve(outcome.result)
    }
  }
}

/** Returns the error of a failure event. */
export const failure = (what: string, params: Values): RealtimeError =>
  new RealtimeError(String(params.error ?? 'error'), `${what} failed.`)
