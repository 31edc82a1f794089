import { RealtimeError } from './errors.ts'
import type { Values } from './wire.ts'

/** What an action needs of its call. */
export interface ActionCall {
  /** Asks something about this call. */
  ask(method: string, params: Values): Promise<Values>
  /** Tells of every event with this control id, until it is forgotten. */
  watch(controlId: string, watcher: Watcher): void
  forget(controlId: string): void
}

/** Told of the events of one action. */
export interface Watcher {
  event(type: string, params: Values): void
  /** The call is lost: nothing more comes. */
  lost(error: RealtimeError): void
}

/** Something that a call does for a while: a promise of how it ends, and the ways to change it meanwhile. */
export type Action<T> = Promise<T> & {
  /** Resolves when it begins. */
  readonly started: Promise<void>
  /** Ends it; the promise then tells what there is. */
  stop(): Promise<void>
}

/** What becomes of an event: it has begun, it is over with a result, it failed, or nothing. */
export type Outcome<T> = { readonly begun: true } | { readonly result: T } | { readonly error: RealtimeError }

/** One action on its way. */
export class Doing<T> implements Watcher {
  readonly id: string
  readonly #call: ActionCall
  readonly #read: (type: string, params: Values) => Outcome<T> | undefined
  readonly #started = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<T>()

  /** `read` says what an event means. */
  constructor(
    call: ActionCall,
    read: (type: string, params: Values) => Outcome<T> | undefined,
    id = crypto.randomUUID() as string,
  ) {
    this.#call = call
    this.#read = read
    this.id = id
    // Who waits for the end alone need not look at the beginning.
    this.#started.promise.catch(() => {})
  }

  /** Asks for it. */
  begin(method: string, params: Values): this {
    this.#call.watch(this.id, this)
    this.#call.ask(method, { control_id: this.id, ...params }).catch((error) => this.#settle({ error }))
    return this
  }

  /** Tells it something. */
  async tell(method: string, params: Values = {}): Promise<void> {
    await this.#call.ask(method, { control_id: this.id, ...params })
  }

  /** The promise for the application, with its further ways. */
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

/** The error of an event that tells of a failure. */
export const failure = (what: string, params: Values): RealtimeError =>
  new RealtimeError(String(params.error ?? 'error'), `${what} failed.`)
